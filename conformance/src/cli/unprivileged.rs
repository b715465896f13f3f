//! `unprivileged`: becomes another command, without a superuser's privileges. For worlds in which permissions must hold.

use clap::Args;

use super::Problem;
use crate::exit::Exit;
use crate::run::limits::become_unprivileged;

#[derive(Debug, Args)]
pub struct Unprivileged {
    #[arg(last = true)]
    command: Vec<String>,
}

impl Unprivileged {
    pub fn run(self) -> Result<Exit, Problem> {
        let error = become_unprivileged(&self.command);
        Err(Problem::new(Exit::SetUp, error, "this verb is for scenarios with `unprivileged`"))
    }
}
