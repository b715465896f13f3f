//! The program `conformance`.

use std::process::ExitCode;

fn main() -> ExitCode {
    conformance::cli::main().into()
}
