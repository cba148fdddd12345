//! What `seriatim audit` found, as one page without scripts: tables, and for each setting the
//! anomalies over time with the faults.

use super::{Audited, Hermitage};
use crate::text::grouped;

/// A text, in a page of HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut page = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => page += "&amp;",
            '<' => page += "&lt;",
            '>' => page += "&gt;",
            '"' => page += "&quot;",
            '\'' => page += "&#39;",
            c if c.is_control() && c != '\n' => page.extend(c.escape_default()),
            c => page.push(c),
        }
    }
    page
}

const STYLE: &str = "\
:root{color-scheme:light dark;--bad:#b3261e;--good:#1a7f37;--open:#9a6700;--line:#8884}\
@media(prefers-color-scheme:dark){:root{--bad:#ff7b72;--good:#56d364;--open:#e3b341}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;display:block;overflow-x:auto}\
th,td{border:1px solid var(--line);padding:.25rem .6rem;text-align:center}\
th:first-child{text-align:left}\
.bad{color:var(--bad);font-weight:bold}.good{color:var(--good)}.open{color:var(--open)}\
pre{overflow-x:auto;white-space:pre-wrap;border:1px solid var(--line);padding:.8rem}\
svg{width:100%;height:auto;max-height:12rem}\
@media print{body{max-width:none}}";

/// The page.
pub fn html(all: &[Audited], hermitage: Option<&Hermitage>, width: usize) -> String {
    let product = all.first().map(|it| it.product.as_str());
    let product = product.or(hermitage.map(|it| it.product.as_str())).unwrap_or_default();
    let title = format!("{}: isolation, audited", escaped(product));
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\"><title>{title}</title><style>{STYLE}</style><h1>{title}</h1>"
    );
    page += &levels(all);
    if let Some(hermitage) = hermitage {
        page += &hermitage.html();
    }
    for audited in all {
        page += &format!("<h2>{}</h2>", escaped(&audited.setting));
        page += &over_time(audited);
        // The text is what the terminal shows, without its colours.
        let text = super::render(audited, width);
        page += &format!("<pre>{}</pre>", escaped(&without_colours(&text)));
    }
    page + "</html>\n"
}

/// A text without the escape sequences that [`crate::style::paint`] puts in.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| plain += part.split_once('m').map_or(part, |(_, rest)| rest));
    plain
}

fn levels(all: &[Audited]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let mut page = String::from("<h2>Levels</h2><table><tr><th>setting</th>");
    for (level, _) in &first.levels {
        page += &format!("<th>{level}</th>");
    }
    page += "<th>promises</th><th>seen</th></tr>";
    for audited in all {
        page += &format!("<tr><th>{}</th>", escaped(&audited.setting));
        for (_, kept) in &audited.levels {
            let (class, mark) = match kept {
                Some(true) => ("good", "·"),
                Some(false) => ("bad", "x"),
                None => ("open", "?"),
            };
            page += &format!("<td class=\"{class}\">{mark}</td>");
        }
        let seen: Vec<String> = audited
            .anomalies
            .iter()
            .map(|(name, count)| format!("{} {}", escaped(name), grouped(*count)))
            .collect();
        page += &format!("<td>{}</td><td>{}</td></tr>", audited.promise, seen.join(", "));
    }
    page + "</table><p>x violated, · not seen violated, ? undecided</p>"
}

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 160.0;
/// How many bars there are at most: rounds are added up.
const BARS_MAX: usize = 200;

/// Anomalies of a thousand commits, over time, and where faults were.
fn over_time(audited: &Audited) -> String {
    let end = audited.timeline.last().map_or(0.0, |moment| moment.at);
    if end <= 0.0 {
        return String::new();
    }
    let mut bars = vec![(0u64, 0u64); BARS_MAX.min(audited.timeline.len())];
    let count = bars.len();
    for moment in &audited.timeline {
        let place = ((moment.at / end * count as f64).ceil() as usize).clamp(1, count) - 1;
        bars[place].0 += moment.anomalies;
        bars[place].1 += moment.committed;
    }
    let rate = |(seen, committed): (u64, u64)| seen as f64 * 1000.0 / committed.max(1) as f64;
    let most = bars.iter().map(|bar| rate(*bar)).fold(1.0, f64::max);
    let wide = WIDTH / count as f64;
    let mut picture = format!(
        "<figure><svg viewBox=\"0 -20 {WIDTH} {}\" role=\"img\" aria-label=\"anomalies over time\" \
         fill=\"currentColor\">",
        HEIGHT + 40.0
    );
    for (place, bar) in bars.iter().enumerate() {
        let high = rate(*bar) / most * HEIGHT;
        picture += &format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{high:.1}\" \
             fill=\"var(--bad)\"><title>{:.1} of 1,000 commits</title></rect>",
            place as f64 * wide,
            HEIGHT - high,
            (wide * 0.9).max(0.5),
            rate(*bar)
        );
    }
    for fault in &audited.faults {
        let x = (fault.at / end * WIDTH).min(WIDTH);
        picture += &format!(
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"-18\" y2=\"{HEIGHT}\" stroke=\"var(--open)\" \
             stroke-width=\"2\"><title>{}</title></line>",
            escaped(&fault.what)
        );
    }
    picture += &format!(
        "<text x=\"0\" y=\"{0}\">0 s</text><text x=\"{WIDTH}\" y=\"{0}\" \
         text-anchor=\"end\">{end:.0} s</text>",
        HEIGHT + 17.0
    );
    picture
        + &format!(
            "</svg><figcaption>Anomalies of 1,000 commits over time, {most:.0} at \
             most{}</figcaption></figure>",
            if audited.faults.is_empty() { "" } else { "; lines are faults" }
        )
}
