//! `storm`: many broken frames, judged as a scenario is.

use std::time::Instant;

use clap::Args;

use super::subject::SubjectArguments;
use super::{Problem, runtime};
use crate::check::judge;
use crate::check::verdict::Blame;
use crate::console::{Printer, text};
use crate::exit::Exit;
use crate::report::excerpt::judged;
use crate::requirement::Catalogue;
use crate::run::perform;
use crate::scenario::Scenario;
use crate::scenario::expand::expand;

#[derive(Debug, Args)]
pub struct Storm {
    #[command(flatten)]
    subject: SubjectArguments,
    /// Frames, half of them in each protocol era.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    frames: u64,
    /// Good requests that ask for nothing, instead of broken frames.
    #[arg(long)]
    pings: bool,
    /// The same seed gives the same frames. [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Storm {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let subject = self.subject.find(printer)?;
        let seed = self.seed.unwrap_or_else(|| u64::from(uuid::Uuid::new_v4().as_fields().0));
        printer.say(&format!("{} frames, seed {seed}", self.frames));
        let mut exit = Exit::Conformant;
        for era in ["legacy", "modern"] {
            let scenario = scenario(seed, self.frames / 2, era, if self.pings { "pings" } else { "everything" })
                .map_err(|problem| Problem::new(Exit::Harness, problem, "this is a fault of the judge"))?;
            let began = Instant::now();
            let local = tokio::task::LocalSet::new();
            let evidence = runtime()?.block_on(local.run_until(perform(&scenario, &subject)));
            let took = began.elapsed().as_secs_f64();
            let judgement = judge(&evidence);
            let said = if judgement.passed() { "each got its due" } else { "not all got their due" };
            printer.data(&format!("{era}: {} frames in {took:.1} s, {said}", self.frames / 2));
            let told = judged(&evidence, &judgement);
            if let Some(failure) = judgement.failures.first() {
                printer.data(&text::failure(&told, &Catalogue::default(), printer.style));
                exit = if failure.blame == Blame::Environment { Exit::SetUp } else { Exit::Failed };
            }
        }
        Ok(exit)
    }
}

fn scenario(seed: u64, frames: u64, era: &str, of: &str) -> Result<Scenario, String> {
    let written = format!(
        r#"
id = "storm"
title = "A storm of {frames} frames in the {era} era"
proves = ["WIRE-survives-a-storm"]
deadline_s = 60
[world]
mode = "attended"
era = "{era}"
[[do]]
storm = {frames}
of = "{of}"
seed = {seed}
[after]
launches = 0
effects = 0
"#
    );
    let mut found = expand("storm", &written).map_err(|error| error.to_string())?;
    found.pop().ok_or_else(|| "no scenario".to_owned())
}
