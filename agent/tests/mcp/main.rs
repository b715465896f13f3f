//! The MCP adapter against a fake bridge, over every kind of stream.

#![expect(clippy::expect_used, reason = "a test says what it expected")]

mod calls;
mod ending;
mod forms;
mod forms_modern;
mod frames;
mod lifecycles;
mod pressure;
mod streams;
mod world;
