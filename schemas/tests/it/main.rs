//! The files against their rules, and values that are right or wrong in one place against the files.

#[cfg(test)]
mod files;
#[cfg(test)]
mod flow_fake;
#[cfg(test)]
mod held_against;
#[cfg(test)]
mod results;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod written_here;
