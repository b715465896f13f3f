//! The stand-in from outside: its process, its files, its journal.

#[cfg(test)]
mod afterwards;
#[cfg(test)]
mod bridge;
#[cfg(test)]
mod bridged;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod continuations;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod documented;
#[cfg(test)]
mod driven;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod pauses;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod reports;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod world;
