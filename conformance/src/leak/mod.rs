//! The leak oracle: values that only the judge may say, and every spelling in which they could come back.

pub mod forms;
pub mod marks;
pub mod oracle;

pub use marks::Marks;
pub use oracle::Oracle;
