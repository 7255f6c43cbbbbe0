//! A page that needs nothing else and has no script: what it shows, and what to know beside that.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c1c1c;--faint:#5c5c5c;--paper:#fff;--line:#d5d5d5}\
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--faint:#a8a8a8;--paper:#161616;--line:#3a3a3a}}\
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:68rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2rem 0 .3rem}p{margin:.3rem 0}.meta{color:var(--faint);overflow-wrap:anywhere}\
svg{width:100%;height:auto;display:block;margin:1rem 0}svg text{font:13px system-ui,sans-serif;fill:var(--ink)}\
svg.bar{height:2.75rem;margin:.2rem 0}.scroll{overflow-x:auto}.scroll svg{min-width:46rem}\
ul.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;list-style:none;padding:0;margin:.2rem 0 1rem;font-size:.9rem}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}\
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\
th[scope=row],td.left,th.left{text-align:left;font-weight:normal}td.left{white-space:normal;min-width:12rem}\
dt{float:left;clear:left;width:6rem;color:var(--faint)}dd{margin-left:6rem}\
.swatch{display:inline-block;width:.8em;height:.8em;margin-right:.5em;border-radius:2px}";

/// The page.
pub(super) fn plain_page(title: &str, shown: &Markup, notes: &[String]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "linerate: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    (shown)
                    @if !notes.is_empty() {
                        h2 { "What to know beside the numbers" }
                        ul { @for note in notes { li { (note) } } }
                    }
                }
            }
        }
    };
    page.into_string()
}
