//! Breaking paragraphs into lines.

/// Breaks `text` at blanks into lines of at most `width` characters. The first line starts with
/// `first`, the others with blanks of the same width. A word that is longer than a line stands
/// alone on one.
pub fn wrap(text: &str, first: &str, width: usize) -> String {
    let indent = first.chars().count();
    let mut page = first.to_owned();
    let mut column = indent;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            page.push('\n');
            page.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        }
        if column > indent {
            page.push(' ');
            column += 1;
        }
        page.push_str(word);
        column += length;
    }
    page.push('\n');
    page
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn later_lines_are_indented_like_the_first() {
        assert_eq!(wrap("one two three", "1. ", 11), "1. one two\n   three\n");
    }

    #[test]
    fn a_word_longer_than_the_line_is_not_broken() {
        assert_eq!(wrap("a abcdefgh b", "", 4), "a\nabcdefgh\nb\n");
    }
}
