//! Is this an MCP server at all? Asked once, before anything is judged.

use serde_json::Value;

use super::perform::perform;
use super::subject::Subject;
use crate::check::judge;
use crate::check::verdict::Judgement;
use crate::evidence::Evidence;
use crate::scenario::Scenario;
use crate::scenario::expand::{BadScenario, expand};

const SMOKE: &str = r#"
id = "smoke"
title = "The program greets a client and lists its tools"
proves = ["SMOKE-speaks-mcp"]
deadline_s = 10
[after]
launches = 0
"#;

/// What a server said of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduction {
    pub name: String,
    pub version: String,
    pub protocol: String,
    pub tools: Vec<String>,
}

/// The scenario that only greets.
pub fn scenario() -> Result<Scenario, BadScenario> {
    let nothing = || BadScenario { file: "smoke".into(), problem: "no scenario".into() };
    expand("smoke", SMOKE)?.pop().ok_or_else(nothing)
}

pub async fn smoke(subject: &Subject) -> Result<(Evidence, Judgement), BadScenario> {
    let scenario = scenario()?;
    let local = tokio::task::LocalSet::new();
    let evidence = local.run_until(perform(&scenario, subject)).await;
    let judgement = judge(&evidence);
    Ok((evidence, judgement))
}

pub fn introduction(evidence: &Evidence) -> Option<Introduction> {
    let answer_to = |method: &str| {
        let exchange = evidence.exchanges.iter().find(|exchange| exchange.method == method)?;
        evidence.answer(exchange)?.get("result").cloned()
    };
    let hello = answer_to("initialize")?;
    let text = |pointer: &str| hello.pointer(pointer).and_then(Value::as_str).unwrap_or("unknown").to_owned();
    let tools = answer_to("tools/list")?;
    let tools = tools.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
    Some(Introduction {
        name: text("/serverInfo/name"),
        version: text("/serverInfo/version"),
        protocol: text("/protocolVersion"),
        tools: tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str).map(str::to_owned)).collect(),
    })
}
