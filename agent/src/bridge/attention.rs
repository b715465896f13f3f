//! What a call of an attention tool does: reads go to the queue, decisions through a person to the desk.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::attention_tools;
use super::host::{CallContext, ClientTraits, Form, FormAnswer, FormOutcome, ToolAnswer, ToolSpec};
use crate::attended::action::Action;
use crate::attended::copy;
use crate::attended::decide::{DecisionDesk, Stopped};
use crate::attended::id::AttentionId;
use crate::attended::operator::Operator;
use crate::attended::page::{Cursor, Page};
use crate::attended::request::{self, DecisionRequest};
use crate::attended::{AttentionQueue, Resolved};
use crate::cli::ServeOptions;
use crate::contract::ids::RunId;
use crate::flow::bridge::FlowBridge;
use crate::lifecycle::sealed::DecisionEnd;
use crate::refusal::Refusal;
use crate::runs::StoreError;
use crate::service::decisions::{Approved, Called};
use crate::service::{Core, Service};

/// The attention half of the bridge.
pub struct Attention {
    service: Arc<Service>,
    queue: Arc<AttentionQueue>,
    /// Only where decisions are carried.
    desk: Option<Arc<DecisionDesk>>,
}

impl Attention {
    pub fn open(service: Arc<Service>, options: &ServeOptions) -> Result<Self, Refusal> {
        let runs_dir = service.runs_dir();
        let queue = AttentionQueue::open(runs_dir).map_err(|fault| {
            Refusal::new(format!("the runs folder can't be used: {fault}"), "choose another folder with --runs-dir")
        })?;
        let queue = Arc::new(queue);
        let desk = options.attended.as_ref().map(|attended| {
            let operator = Operator::of_this_process()?;
            let bridge = FlowBridge::new(attended.bridge.clone());
            let runs_dir = runs_dir.to_owned();
            Ok(Arc::new(DecisionDesk::new(Arc::clone(&queue), bridge, operator, runs_dir, attended.wants_live)))
        });
        Ok(Self { desk: desk.transpose()?, queue, service })
    }

    /// In list order. Decisions are left out for a client that can't ask a person.
    pub fn tools(&self, client: ClientTraits) -> Vec<ToolSpec> {
        let reads = [attention_tools::list_needs_attention(), attention_tools::get_attention_item()];
        let decisions = Action::ALL.into_iter().filter(|action| client.form_elicitation && self.carries(*action));
        reads.into_iter().chain(decisions.map(attention_tools::decision)).collect()
    }

    /// `None` for a tool that isn't one of these.
    pub async fn call(&self, name: &str, arguments: Map<String, Value>, cx: CallContext) -> Option<ToolAnswer> {
        Some(match name {
            attention_tools::LIST_NEEDS_ATTENTION => match request::list(arguments) {
                Ok(after) => self.list(after).await,
                Err(_) => ToolAnswer::Refused(copy::LIST_USAGE),
            },
            attention_tools::GET_ATTENTION_ITEM => match request::item(arguments) {
                Ok(id) => {
                    let queue = Arc::clone(&self.queue);
                    match blocking(move || queue.resolve(&id)).await {
                        Some(Ok(Some(resolved))) => ToolAnswer::Object(resolved.item.to_object()),
                        Some(Ok(None)) => ToolAnswer::Refused(copy::NO_ITEM),
                        Some(Err(_)) | None => ToolAnswer::Refused(copy::QUEUE_UNREADABLE),
                    }
                }
                Err(_) => ToolAnswer::Refused(copy::ITEM_USAGE),
            },
            name => {
                let action = Action::of_tool(name).filter(|action| self.carries(*action))?;
                let desk = self.desk.as_ref()?;
                match DecisionRequest::parse(action, arguments) {
                    Ok(request) => self.decide(desk, request, cx).await,
                    Err(_) => ToolAnswer::Refused(copy::usage(action)),
                }
            }
        })
    }

    /// The item of a run, where one waits for a person.
    pub async fn item_of(&self, run_id: &RunId) -> Option<Map<String, Value>> {
        let (queue, id) = (Arc::clone(&self.queue), AttentionId::of_place(run_id.as_str()));
        let found = blocking(move || queue.resolve(&id)).await?.ok()?;
        Some(found?.item.to_object())
    }

    fn carries(&self, action: Action) -> bool {
        self.desk.as_ref().is_some_and(|desk| desk.is_live() || !action.is_live())
    }

    async fn list(&self, after: Option<Cursor>) -> ToolAnswer {
        let queue = Arc::clone(&self.queue);
        match blocking(move || queue.page(after.as_ref())).await {
            Some(Ok(page)) => ToolAnswer::Object(self.listing(&page)),
            Some(Err(_)) | None => ToolAnswer::Refused(copy::QUEUE_UNREADABLE),
        }
    }

    fn listing(&self, page: &Page) -> Map<String, Value> {
        let rows: Vec<Value> = page.items.iter().map(|item| item.to_object().into()).collect();
        let listing = [
            ("open_count", page.open.into()),
            ("actions_enabled", self.desk.is_some().into()),
            ("live_actions_ready", self.carries(Action::Continue).into()),
            ("items", rows.into()),
            ("next_cursor", page.next.as_ref().map(Cursor::to_text).into()),
        ];
        listing.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    async fn decide(&self, desk: &Arc<DecisionDesk>, request: DecisionRequest, cx: CallContext) -> ToolAnswer {
        let (desk, core, asked) = (Arc::clone(desk), self.service.decisions(), request.clone());
        // On a thread that goes on when the call is given up: what was confirmed is submitted as a whole.
        let step = blocking(move || match cx.answer {
            None => called_for(&desk, &core, &asked, cx.client),
            Some(answer) => answered(&desk, &core, &asked, cx.client, answer),
        });
        match step.await {
            Some(Ok(Step::Told(decision))) => ToolAnswer::Object(decision),
            Some(Ok(Step::Ask(resolved))) => ToolAnswer::Ask(self.form(&request, &resolved).await),
            Some(Err(Stopped(sentence))) => ToolAnswer::Refused(sentence),
            None => ToolAnswer::Refused(copy::FAILED),
        }
    }

    /// Names the action, the workflow as the catalogue has it, and opaque ids.
    async fn form(&self, request: &DecisionRequest, resolved: &Resolved) -> Form {
        let mut about = format!("Item {}", request.attention_id);
        if let Ok(run_id) = RunId::parse(&resolved.place) {
            let service = Arc::clone(&self.service);
            about.push_str(&format!(", run {run_id}"));
            let workflow = blocking(move || service.workflow_of(&run_id).map(str::to_owned)).await.flatten();
            about.extend(workflow.map(|name| format!(", workflow {name}")));
        }
        Form {
            message: format!("{} {about}.", copy::question(request.action)),
            field_title: copy::tick(request.action),
            binding: request.binding(),
        }
    }
}

/// One turn of a decision.
enum Step {
    Told(Map<String, Value>),
    Ask(Box<Resolved>),
}

fn called_for(
    desk: &DecisionDesk,
    core: &Core,
    request: &DecisionRequest,
    client: ClientTraits,
) -> Result<Step, Stopped> {
    let resolved = match desk.resolve(request) {
        Ok(_) if !client.form_elicitation => Err(Stopped(copy::NO_FORM)),
        resolved => resolved,
    };
    let resolved = resolved.inspect_err(|_| {
        if let Err(fault) = core.decision_refused(&request.into()) {
            tracing::warn!("a refused decision couldn't be written down: {fault}");
        }
    })?;
    match core.decision_called(&request.into()).map_err(|fault| not_recorded(&fault))? {
        Called::Ask => Ok(Step::Ask(Box::new(resolved))),
        Called::Approved(approved) => carry_out(desk, core, request, *approved),
        Called::Suppressed => Err(Stopped(copy::SUPPRESSED)),
    }
}

fn answered(
    desk: &DecisionDesk,
    core: &Core,
    request: &DecisionRequest,
    client: ClientTraits,
    answer: FormAnswer,
) -> Result<Step, Stopped> {
    let binds = answer.binding == request.binding() && client.form_elicitation;
    let given = if answer.given == FormOutcome::Confirmed && !binds { FormOutcome::Unanswered } else { answer.given };
    let approved = core.decision_answered(&request.into(), given).map_err(|fault| not_recorded(&fault))?;
    match (sentence_of(answer.given), approved) {
        (Some(sentence), _) => Err(Stopped(sentence)),
        (None, Some(approved)) => carry_out(desk, core, request, approved),
        (None, None) => Err(Stopped(copy::CHANGED_MEANWHILE)),
    }
}

/// Looked at again, dispatched, handed over, sealed: in this order, and each once.
fn carry_out(desk: &DecisionDesk, core: &Core, request: &DecisionRequest, approved: Approved) -> Result<Step, Stopped> {
    if let Err(stopped) = desk.look_again(request) {
        let end =
            if stopped == Stopped(copy::NOT_SUBMITTED) { DecisionEnd::NotSubmitted } else { DecisionEnd::NotOffered };
        core.decision_dropped(&request.into(), approved, end).map_err(|fault| not_recorded(&fault))?;
        return Err(stopped);
    }
    let dispatched = core.decision_dispatched(&request.into(), approved).map_err(|fault| not_recorded(&fault))?;
    let Some((handed, token)) = dispatched else { return Err(Stopped(copy::CHANGED_MEANWHILE)) };
    let submitted = desk.submit(request, token);
    let told = submitted.answer.as_ref().cloned().unwrap_or_default();
    if let Err(fault) = core.decision_ended(&request.into(), handed, submitted.end, told) {
        // It was carried out or not; nobody could say so again, so nobody is told that all is well.
        tracing::warn!("what became of a decision couldn't be written down: {fault}");
        return Err(Stopped(copy::FAILED));
    }
    submitted.answer.map(Step::Told)
}

fn not_recorded(fault: &StoreError) -> Stopped {
    tracing::warn!("a decision can't be written down, so nothing was submitted: {fault}");
    Stopped(copy::NOT_RECORDED)
}

/// What is said of an answer that isn't a yes.
fn sentence_of(given: FormOutcome) -> Option<&'static str> {
    match given {
        FormOutcome::Confirmed => None,
        FormOutcome::NotConfirmed => Some(copy::NOT_CONFIRMED),
        FormOutcome::Declined => Some(copy::DECLINED),
        FormOutcome::Cancelled => Some(copy::CANCELLED),
        FormOutcome::Unanswered => Some(copy::UNANSWERED),
    }
}

/// `None` where the thread was lost.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
