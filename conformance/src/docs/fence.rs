//! Fenced blocks of a Markdown page.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    pub language: String,
    /// Words after the language.
    pub attributes: Vec<String>,
    pub text: String,
    /// Where the block opens, from 1.
    pub line: usize,
}

/// Every block; the line of one that is never closed.
pub fn all(page: &str) -> Result<Vec<Fence>, usize> {
    let mut fences = Vec::new();
    let mut open: Option<(Fence, usize)> = None;
    for (index, line) in page.lines().enumerate() {
        let ticks = line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
        let rest = line.trim_start().get(ticks..).unwrap_or_default().trim();
        match open.take() {
            Some((fence, length)) if ticks >= length && rest.is_empty() => fences.push(fence),
            Some((mut fence, length)) => {
                fence.text.push_str(line);
                fence.text.push('\n');
                open = Some((fence, length));
            }
            None if ticks >= 3 && !rest.contains('`') => {
                let mut words = rest.split_whitespace().map(str::to_owned);
                let language = words.next().unwrap_or_default();
                let fence = Fence { language, attributes: words.collect(), text: String::new(), line: index + 1 };
                open = Some((fence, ticks));
            }
            None => {}
        }
    }
    match open {
        Some((fence, _)) => Err(fence.line),
        None => Ok(fences),
    }
}
