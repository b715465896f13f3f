//! The house rules that a compiler doesn't know, held as tests.

mod architecture;
mod dependencies;
mod files;
