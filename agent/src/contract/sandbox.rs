//! The closed words of a sandbox run: which case was played, by which engine, and why it wasn't another one.

use serde_json::{Map, Value};

use super::outcome::closed_words;

closed_words! {
    /// What the made-up app does in a run. Source: *Sandbox*.
    SandboxCase {
        Normal = "normal",
        DuplicateRecord = "duplicate_record",
        FalseSavedBanner = "false_saved_banner",
        TimeoutAfterSave = "timeout_after_save",
        AppOffline = "app_offline",
    }
}

closed_words! {
    /// What carries a sandbox run out, as it says of itself.
    SandboxEngine {
        /// The real workflow engine in a real browser.
        Flow = "flow",
        /// A stand-in for the engine; the app, the browser and the save are real.
        Driven = "driven",
        /// Nothing: the contract's results without any app.
        Simulated = "simulated",
    }
}

closed_words! {
    /// What a run on the real app lacks on this computer.
    Lacking {
        NoEngine = "no_engine",
        NotBuilt = "not_built",
        NoDriver = "no_driver",
        NoBrowser = "no_browser",
        /// There is one, and it can't be started or doesn't open the app.
        BrowserFailed = "browser_failed",
        /// It ended, said what is no answer, or took too long before it was ready.
        EngineFailed = "engine_failed",
        NoApp = "no_app",
        AppNotStarted = "app_not_started",
    }
}

/// The sandbox's part of a result. What isn't known is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SandboxFacts {
    /// `None` where the inputs weren't taken.
    pub case: Option<SandboxCase>,
    /// `None` where none was chosen yet.
    pub engine: Option<SandboxEngine>,
    /// Why the sandbox is simulated though nobody asked for that.
    pub fallback: Option<Lacking>,
}

impl SandboxFacts {
    pub fn is_simulated(self) -> bool {
        self.engine == Some(SandboxEngine::Simulated)
    }

    pub fn to_object(self) -> Map<String, Value> {
        let words = [
            ("case", self.case.map(SandboxCase::as_str)),
            ("engine", self.engine.map(SandboxEngine::as_str)),
            ("fallback", self.fallback.map(Lacking::as_str)),
        ];
        words.into_iter().filter_map(|(key, word)| Some((key.to_owned(), word?.into()))).collect()
    }

    /// `None` where a member isn't one of its closed words.
    pub fn read(object: &Map<String, Value>) -> Option<Self> {
        Some(Self {
            case: word(object, "case", SandboxCase::parse)?,
            engine: word(object, "engine", SandboxEngine::parse)?,
            fallback: word(object, "fallback", Lacking::parse)?,
        })
    }

    /// These facts, completed by what else is known.
    pub fn or(self, other: Self) -> Self {
        Self {
            case: self.case.or(other.case),
            engine: self.engine.or(other.engine),
            fallback: self.fallback.or(other.fallback),
        }
    }
}

fn word<T>(object: &Map<String, Value>, key: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match object.get(key) {
        None | Some(Value::Null) => Some(None),
        Some(value) => parse(value.as_str()?).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_read_back_as_they_were_written_and_other_words_are_refused() {
        for case in SandboxCase::ALL {
            for engine in SandboxEngine::ALL {
                let facts =
                    SandboxFacts { case: Some(*case), engine: Some(*engine), fallback: Lacking::ALL.first().copied() };
                assert_eq!(SandboxFacts::read(&facts.to_object()), Some(facts));
            }
        }
        assert_eq!(SandboxFacts::read(&Map::new()), Some(SandboxFacts::default()));
        let odd = Map::from_iter([("engine".to_owned(), "a sentence that somebody wrote".into())]);
        assert_eq!(SandboxFacts::read(&odd), None);
    }
}
