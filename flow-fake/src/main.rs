//! `flow-fake`: see `flow-fake --help` and docs/flow-fake.md.

fn main() -> std::process::ExitCode {
    flow_fake::cli::main(std::env::args_os().skip(1))
}
