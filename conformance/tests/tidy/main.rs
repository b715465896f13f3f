//! The house rules that a compiler doesn't know, held as tests.

#![expect(clippy::expect_used, reason = "a test says what it expected")]

mod architecture;
mod dependencies;
mod files;
mod licences;
mod packages;
mod pages;
