//! One thing in a window: its opaque name, what it is, where it is, and labels that passed the guard.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::authoring::label::{LONGEST, Label};
use crate::contract::outcome::closed_words;

/// `n_` and eight hex digits: made by Flow of kind and place, and of nothing that is written there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(u32);

closed_words! {
    /// What a thing is.
    Role {
        Button = "button",
        TextInput = "text_input",
        TextStatic = "text_static",
        Label = "label",
        Link = "link",
        Checkbox = "checkbox",
        Radio = "radio",
        Combobox = "combobox",
        ListItem = "list_item",
        Menu = "menu",
        MenuItem = "menu_item",
        Tab = "tab",
        TreeItem = "tree_item",
        Image = "image",
        Icon = "icon",
        Toolbar = "toolbar",
        Scrollbar = "scrollbar",
        Slider = "slider",
        Window = "window",
        Dialog = "dialog",
        Group = "group",
        Table = "table",
        TableCell = "table_cell",
        TableRow = "table_row",
        Heading = "heading",
        Paragraph = "paragraph",
        Unknown = "unknown",
    }
}

/// A place, as parts of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub id: NodeId,
    role: Role,
    control_type: Option<Label>,
    class_name: Option<Label>,
    automation_id: Option<Label>,
    name: Option<Label>,
    enabled: bool,
    focused: bool,
    bounds: Bounds,
}

const LONGEST_CLASS: usize = 64;

impl NodeId {
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("n_")?;
        let lower = digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if digits.len() == 8 && lower { u32::from_str_radix(digits, 16).ok().map(Self) } else { None }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n_{:08x}", self.0)
    }
}

impl Bounds {
    /// Whatever isn't wholly inside the window is no place.
    pub fn read(said: &Value) -> Option<Self> {
        let part = |key| {
            let number = said.get(key)?.as_f64()?;
            // As fine as a place is told; 1 and a rounding fault is 1.
            let rounded = (number * 1e6).round() / 1e6;
            (0.0..=1.0).contains(&rounded).then_some(rounded)
        };
        let (x, y, w, h) = (part("x")?, part("y")?, part("w")?, part("h")?);
        let inside = |from: f64, length: f64| from + length <= 1.0 + 1e-9;
        (inside(x, w) && inside(y, h)).then_some(Self { x, y, w, h })
    }

    pub fn to_value(self) -> Value {
        let Self { x, y, w, h } = self;
        json!({ "x": x, "y": y, "w": w, "h": h })
    }
}

impl Node {
    /// `None` for what has no sound name, place, or state. An unknown kind is `unknown`.
    pub fn read(said: &Value) -> Option<Self> {
        let flag = |key| said.get(key).and_then(Value::as_bool);
        let label = |key, longest| said.get(key).and_then(Value::as_str).and_then(|text| Label::guarded(text, longest));
        Some(Self {
            id: NodeId::parse(said.get("node_id")?.as_str()?)?,
            role: Role::parse(said.get("role")?.as_str()?).unwrap_or(Role::Unknown),
            control_type: label("control_type", LONGEST),
            class_name: label("class_name", LONGEST_CLASS),
            automation_id: label("automation_id", LONGEST),
            name: label("name", LONGEST),
            enabled: flag("enabled")?,
            focused: flag("focused")?,
            bounds: Bounds::read(said.get("bounds")?)?,
        })
    }

    pub fn to_value(&self) -> Value {
        let mut node = Map::new();
        let mut put = |key: &str, value: Value| node.insert(key.to_owned(), value);
        put("node_id", self.id.to_string().into());
        put("role", self.role.as_str().into());
        let labels = [
            ("control_type", &self.control_type),
            ("class_name", &self.class_name),
            ("automation_id", &self.automation_id),
            ("name", &self.name),
        ];
        for (key, label) in labels {
            if let Some(label) = label {
                put(key, label.as_str().into());
            }
        }
        put("enabled", self.enabled.into());
        put("focused", self.focused.into());
        put("bounds", self.bounds.to_value());
        Value::Object(node)
    }
}
