//! The attention tools through the bridge, on real run folders and with a bridge of Flow that plays a script.

mod decisions;
mod tools;
mod world;
