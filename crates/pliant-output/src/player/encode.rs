//! Names in a page: as escaped JSON, in a template filled in one pass.

use super::PlayerError;
use serde::Serialize;

/// JSON that is safe as the text of a `<script>` element: no `<`, `>`, `&` and no line separators.
pub(super) fn script_json(value: &impl Serialize) -> Result<String, PlayerError> {
    let json = serde_json::to_string(value).map_err(|error| PlayerError::Json {
        reason: error.to_string(),
    })?;
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // Within JSON these occur inside strings only, where the escape means the same
            // character.
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            _ => safe.push(c),
        }
    }
    Ok(safe)
}

/// `text` as the content of an HTML element.
pub(super) fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// `template` with every `{{key}}` replaced by its value. Values are never scanned, so they may
/// contain `{{...}}` themselves.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut page =
        String::with_capacity(template.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let Some((key, after)) = after.split_once("}}") else {
            page.push_str("{{");
            rest = after;
            continue;
        };
        page.push_str(
            values
                .iter()
                .find(|(name, _)| *name == key)
                .map_or("", |(_, value)| value),
        );
        rest = after;
    }
    page.push_str(rest);
    page
}
