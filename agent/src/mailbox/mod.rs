//! `authoring connect`: the outbound mailbox of a hosted chat app. It asks, and nobody can ask it: nothing here listens.
//! Source: agent, 9.3; the design, *Identity and transport*.

pub mod command;
pub mod connect;
pub mod desk;
pub mod envelope;
pub mod person;
pub mod post;
pub mod target;
