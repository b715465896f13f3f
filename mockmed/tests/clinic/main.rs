//! The server over real HTTP, and the program as a real process.

#[cfg(test)]
mod desk;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod process;
#[cfg(test)]
mod wire;
#[cfg(test)]
mod writes;
