//! The command line as a whole: what help lists, and what is made of it.

use clap::CommandFactory;

use super::*;

fn help_of(name: &str) -> String {
    let mut whole = description();
    let command = whole.find_subcommand_mut(name).expect("the command is there");
    command.render_long_help().to_string()
}

#[test]
fn the_command_line_is_well_formed() {
    Cli::command().debug_assert();
}

#[test]
fn every_flag_of_serve_stands_under_a_heading_and_says_what_it_is_for() {
    let whole = description();
    let serve = whole.find_subcommand("serve").expect("the command is there");
    for flag in serve.get_arguments() {
        assert!(flag.get_help_heading().is_some(), "--{} has no help_heading", flag.get_id());
        assert!(flag.get_help().is_some(), "--{} has no words", flag.get_id());
    }
}

#[test]
fn every_command_has_words_and_examples_and_the_keeper_is_none() {
    let whole = description();
    for command in whole.get_subcommands() {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(examples.contains(&format!("openadapt-agent {}", command.get_name())), "{}", command.get_name());
    }
    assert!(whole.find_subcommand(crate::keeper::WORD).is_none());
}

#[test]
fn the_help_as_a_person_reads_it() {
    insta::assert_snapshot!("help", description().render_long_help().to_string());
    insta::assert_snapshot!("help_of_emit_skill", help_of("emit-skill"));
}

#[test]
fn examples_in_the_help_are_lines_that_the_program_takes() {
    let whole = description();
    let texts = whole.get_subcommands().filter_map(clap::Command::get_after_help).map(ToString::to_string);
    let texts: Vec<_> = texts.chain(whole.get_after_help().map(ToString::to_string)).collect();
    let mut tried = 0;
    for line in texts.iter().flat_map(|text| text.lines()) {
        let Some(words) = line.strip_prefix("  openadapt-agent ") else { continue };
        let words = words.split("  ").next().unwrap_or_default().split(" > ").next().unwrap_or_default();
        let words = ["openadapt-agent"].into_iter().chain(words.split_whitespace());
        assert!(Cli::try_parse_from(words).is_ok(), "{line}");
        tried += 1;
    }
    assert!(tried >= 10, "only {tried} examples were found");
}
