//! The clinic's pages in a real browser, as a person meets them.

#[cfg(test)]
mod desk;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod keyboard;
#[cfg(test)]
mod way;
