//! The MCP adapter against a fake bridge, over every kind of stream.

mod calls;
mod ending;
mod frames;
mod lifecycles;
mod pressure;
mod streams;
mod world;
