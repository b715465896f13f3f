//! What a report step may say.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::step::{control_name, typed};
use crate::canonical::unhex;
use crate::report::{ProfileChoice, Shape};

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReportSpec {
    pub shape: Option<Shape>,
    pub profile: Option<ProfileChoice>,
    /// RFC 7386 merge patch.
    pub patch: Option<Value>,
    /// JSON pointer → value, after the patch.
    pub set: Map<String, Value>,
    /// JSON pointers, last.
    pub remove: Vec<String>,
    pub truncate: Option<usize>,
    pub pad_to: Option<usize>,
    /// Depth of the whole document, the report object included.
    pub nest: Option<usize>,
    pub bytes: Option<String>,
    pub hex: Option<String>,
    pub started_at: Start,
    #[serde(rename = "not")]
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    #[default]
    Now,
    /// An hour before this launch.
    Stale,
}

/// What stands at `report.json` instead of a regular file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    File,
    Symlink,
    Directory,
    Fifo,
}

#[derive(Debug, Clone)]
pub struct LateReport {
    pub report: ReportSpec,
    /// Name of the release that lets it be written, once Flow has ended.
    pub after: String,
}

impl ReportSpec {
    /// The report of a shape, unchanged.
    pub fn of(shape: Shape) -> Self {
        Self { shape: Some(shape), ..Self::default() }
    }

    pub fn parse(argument: Value) -> Result<Self, String> {
        let spec = match argument {
            Value::String(shape) => Self::of(typed(Value::String(shape))?),
            object => typed::<Self>(object)?,
        };
        let raw = usize::from(spec.bytes.is_some()) + usize::from(spec.hex.is_some());
        if raw + usize::from(spec.shape.is_some()) > 1 {
            return Err("`shape`, `bytes` and `hex` exclude each other".into());
        }
        if raw == 0 && spec.shape.is_none() && !matches!(spec.kind, Kind::Directory | Kind::Fifo) {
            return Err("it needs a `shape`, `bytes` or `hex`".into());
        }
        let edits = spec.patch.is_some() || !spec.set.is_empty() || !spec.remove.is_empty() || spec.nest.is_some();
        if raw > 0 && edits {
            return Err("`bytes` and `hex` can't be patched".into());
        }
        if spec.hex.as_deref().is_some_and(|text| unhex(text).is_none()) {
            return Err("`hex` isn't pairs of hex digits".into());
        }
        if let (Some(shape), Some(profile)) = (spec.shape, spec.profile)
            && !shape.allows(profile.profile())
        {
            return Err(format!("Flow never writes `{shape}` under that profile; use `patch` for a contradiction"));
        }
        Ok(spec)
    }
}

impl LateReport {
    pub fn parse(argument: Value) -> Result<Self, String> {
        let Value::Object(mut map) = argument else {
            return Err("it is an object with the keys of a report and `after`".into());
        };
        let after = typed(map.remove("after").unwrap_or_default()).map_err(|_| "it needs `after`".to_owned())?;
        Ok(Self { report: ReportSpec::parse(Value::Object(map))?, after: control_name(after)? })
    }
}
