//! A badge for a README: what was proven, of how much, and whether anything failed.

use crate::run::events::Summary;

pub fn svg(summary: &Summary) -> String {
    let clean = summary.failed + summary.unrun == 0 && !summary.interrupted;
    let word = if clean { "conformant" } else { "not conformant" };
    let said = format!("{word}, {} of {} proven", summary.proven, summary.requirements);
    let (label, colour) = ("conformance", if clean { "#1a6f37" } else { "#a5251f" });
    let (left, right) = (width(label), width(&said));
    let whole = left + right;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" aria-label="{label}: {said}">
<title>{label}: {said}</title>
<rect width="{whole}" height="20" rx="3" fill="#3d4450"/>
<path d="M{left} 0h{} a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h-{}z" fill="{colour}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{}" y="14">{label}</text>
<text x="{}" y="14">{said}</text>
</g>
</svg>
"##,
        right - 3,
        right - 3,
        left / 2,
        left + right / 2,
    )
}

/// About as wide as these letters are at this size.
fn width(text: &str) -> usize {
    text.chars().count() * 7 + 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_says_what_was_proven_and_is_never_green_where_something_failed_or_was_not_run() {
        let good = Summary { proven: 60, requirements: 60, ..Summary::default() };
        assert!(svg(&good).contains("conformance: conformant, 60 of 60 proven"));
        for bad in [
            Summary { failed: 1, ..good.clone() },
            Summary { unrun: 1, ..good.clone() },
            Summary { interrupted: true, ..good.clone() },
        ] {
            assert!(svg(&bad).contains(": not conformant"), "{bad:?}");
        }
    }
}
