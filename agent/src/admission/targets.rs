//! The seven targets of the release ledger, and what each must say of itself. The header of a target and the row inside it use
//! two vocabularies.

/// One target, by what its header and its rows must say.
#[derive(Debug)]
pub struct Contract {
    pub id: &'static str,
    pub header_kind: &'static str,
    pub header_scope: &'static str,
    pub header_artifacts: &'static [&'static str],
    pub row_kinds: &'static [&'static str],
    pub row_scope: &'static str,
    /// Owner and name, and the number of the source repository.
    pub repository: (&'static str, &'static str),
}

/// A name of the table.
#[derive(Clone, Copy)]
pub struct TargetId(&'static Contract);

const PACKAGE: &[&str] = &["package"];
const DEPLOYMENT: &[&str] = &["deployment"];
const WHEELS: &[&str] = &["sdist", "wheel"];

/// In the order of the ledger.
static TARGETS: [Contract; 7] = [
    Contract {
        id: "agent",
        header_kind: "public_package",
        header_scope: "qualified_agent_bridge_release",
        header_artifacts: WHEELS,
        row_kinds: PACKAGE,
        row_scope: "production_agent",
        repository: ("OpenAdaptAI/openadapt-agent", "1136136670"),
    },
    Contract {
        id: "capture",
        header_kind: "public_package",
        header_scope: "qualified_native_recorder_release",
        header_artifacts: WHEELS,
        row_kinds: PACKAGE,
        row_scope: "production_capture",
        repository: ("OpenAdaptAI/openadapt-capture", "1115283835"),
    },
    Contract {
        id: "cloud",
        header_kind: "private_deployment",
        header_scope: "qualified_workflow_control_plane_deployment",
        header_artifacts: &[],
        row_kinds: DEPLOYMENT,
        row_scope: "production_cloud",
        repository: ("OpenAdaptAI/openadapt-cloud", "1300570990"),
    },
    Contract {
        id: "desktop",
        header_kind: "public_package",
        header_scope: "qualified_native_workflow_desktop_release",
        header_artifacts: &["linux-installer", "macos-installer", "sdist", "wheel", "windows-installer"],
        row_kinds: &["package", "hybrid"],
        row_scope: "production_desktop",
        repository: ("OpenAdaptAI/openadapt-desktop", "1171291730"),
    },
    Contract {
        id: "docs",
        header_kind: "public_deployment",
        header_scope: "production_documentation_deployment",
        header_artifacts: &["deployment-manifest", "site-archive"],
        row_kinds: DEPLOYMENT,
        row_scope: "production_docs",
        repository: ("OpenAdaptAI/openadapt-ops", "1172011294"),
    },
    Contract {
        id: "flow",
        header_kind: "public_package",
        header_scope: "qualified_workflow_runtime_release",
        header_artifacts: WHEELS,
        row_kinds: PACKAGE,
        row_scope: "production_flow",
        repository: ("OpenAdaptAI/openadapt-flow", "1291376938"),
    },
    Contract {
        id: "openadapt",
        header_kind: "public_package",
        header_scope: "qualified_workflow_launcher_release",
        header_artifacts: WHEELS,
        row_kinds: PACKAGE,
        row_scope: "production_openadapt",
        repository: ("OpenAdaptAI/OpenAdapt", "627024850"),
    },
];

impl TargetId {
    /// The target that this program is.
    pub const AGENT: Self = Self(&TARGETS[0]);

    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        TARGETS.iter().map(Self)
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::all().find(|target| target.as_str() == text)
    }

    pub const fn as_str(self) -> &'static str {
        self.0.id
    }

    pub(super) const fn contract(self) -> &'static Contract {
        self.0
    }
}

impl PartialEq for TargetId {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for TargetId {}

impl PartialOrd for TargetId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TargetId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl std::fmt::Debug for TargetId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}
