//! A small model of requests, attempts and switches, written from the texts alone, and worlds that are drawn at random and held against
//! it: two servers, three requests, calls, kills and switches in any order. Source: lifecycle, *In the conformance harness*.

mod case;
mod explore;
mod held;
mod reference;
mod write;

pub use case::{Case, Ending, Op};
pub use explore::{Explored, explore};
