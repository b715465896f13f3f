//! The certificate's own page in words: what it says, what it doesn't, and the exact steps that make it again.

use super::WHAT_IT_IS;
use super::stored::Stored;
use crate::requirement::State;
use crate::run::events::Finished;

pub fn readme(stored: &Stored, finished: &Finished) -> String {
    let (header, summary) = (&stored.header, &finished.summary);
    let total = summary.passed + summary.failed + summary.unrun;
    let mut page = format!("# {}\n\n{WHAT_IT_IS}\n\n## What was found\n\n", header.title());
    page.push_str(&format!(
        "{} of {total} scenarios passed, {} failed, {} were not run, {} were not claimed. {} of {} requirements are proven.\n\n",
        summary.passed, summary.failed, summary.unrun, summary.unclaimed, summary.proven, summary.requirements
    ));
    let differing: Vec<String> = finished
        .matrix
        .rows
        .iter()
        .filter(|row| row.state != State::Proven)
        .map(|row| format!("- {}: {}", row.id, row.sentence))
        .collect();
    if !differing.is_empty() {
        page.push_str(&format!("Not proven:\n\n{}\n\n", differing.join("\n")));
    }
    page.push_str("`index.html` shows each requirement, its verdict and the transcript behind it; `report.jsonl` and `junit.xml` say the same to programs.\n\n");
    page.push_str("## What was judged\n\n| program | version | sha256 | of |\n|---|---|---|---|\n");
    for (name, program) in [("Flow", &header.flow), ("agent", &header.agent)] {
        page.push_str(&format!(
            "| {name}: `{}` | {} | {} | {} |\n",
            program.command, program.version, program.sha256, program.of
        ));
    }
    page.push_str(&format!(
        "| judge: `conformance` | {} | | |\n| frozen set {} | | {} | its list |\n",
        header.conformance, header.set, header.set_sha256
    ));
    if let Some(browser) = &header.browser {
        page.push_str(&format!("| browser | {browser} | | |\n"));
    }
    page.push_str(&format!(
        "\n## Reproduce\n\n1. Build the judge and the agent of version {}: `cargo build --release --locked`.\n",
        header.conformance
    ));
    page.push_str(&format!("2. Have Flow {} as a release, unmodified: its digest is above.\n", header.flow.version));
    let claims = if header.claims.is_some() { " --claims claims.json" } else { "" };
    page.push_str(&format!(
        "3. `conformance certify --flow '{}' --agent '{}'{claims} --out certificate`\n",
        header.flow.command, header.agent.command
    ));
    page.push_str("4. Hold the two against each other: `conformance verify certificate`, and its `matrix.md` beside this one.\n\n");
    if let Some(claims) = &header.claims {
        page.push_str(&format!("Claimed profiles: {}.\n\n", claims.profiles.join(", ")));
    }
    page.push_str("## Verify\n\n`conformance verify DIR --public-key KEY.pub` judges the evidence in this folder once more, without network and without the programs. It ends with 0 where everything holds and passed, with 100 where everything holds and something had failed, and with 102 where anything in the folder isn't what was written. `statement.json` is an in-toto statement in a DSSE envelope; without a signature in it, it proves only that the folder agrees with itself.\n");
    page
}
