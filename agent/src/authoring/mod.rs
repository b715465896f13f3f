//! Recording tools: a first demonstration on one pinned window, without a value leaving the screen. Source: *Recording tools*.

pub mod answer;
pub mod copy;
pub mod label;
pub mod observe;
pub mod opening;
pub mod pin;
pub mod request;
pub mod room;
mod screen;
pub mod session;
pub mod tool;
