//! The scene on a page of any size: the more room there is, the more is shown.

mod chart;
mod cpu;
mod ladder;

use super::pace::is_long;
use super::scene::Scene;
use crate::cli::watch::progress::about;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};

/// What the user asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct View {
    /// Drawing stands still.
    pub held: bool,
    /// The help is shown.
    pub help: bool,
}

/// What a page of at least so many lines shows.
struct Plan {
    lines: u16,
    cpus: u16,
    chart: u16,
    notes: u16,
}

/// From the largest page down; the ladder takes the rest.
const PLANS: &[Plan] = &[
    Plan { lines: 36, cpus: 5, chart: 8, notes: 4 },
    Plan { lines: 24, cpus: 3, chart: 6, notes: 3 },
    Plan { lines: 16, cpus: 3, chart: 0, notes: 2 },
    Plan { lines: 0, cpus: 0, chart: 0, notes: 0 },
];

/// A page that is narrower shows figures before names.
const NARROW: u16 = 60;

const HELP: &[&str] = &[
    "q   stop in order: the report of what was measured; again: at once",
    "p   hold the page, and go on",
    "?   this help, and back",
    "",
    "Each line is a rung of the ladder: medians over the passes so far. The report has them all with their \
     intervals, and says what they mean: linerate explain NAME.",
    "",
    "recent   the last throughputs of the line, each against the largest of them",
    "±        the 95 % interval of the median, from six passes on",
    "beside   what else took the CPUs: other processes and the kernel's interrupts; the hypervisor",
    "",
    "The page is drawn between steps, at most five times a second, and never takes more than 1 % of the \
     time. So keys are answered at the end of a step; only q ends it.",
];

/// What repeats in words is dim, what counts is bold.
const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const WARNING: Style = Style::new().fg(Color::Yellow);
const RATE: Style = Style::new().fg(Color::Cyan);

/// Draws everything.
pub fn draw(scene: &Scene, view: &View, frame: &mut Frame) {
    let all = [Constraint::Length(2), Constraint::Fill(1), Constraint::Length(1)];
    let [title, page, keys] = Layout::vertical(all).areas(frame.area());
    head(scene, view, frame, title);
    match view.help {
        true => help(frame, page),
        false => parts(scene, frame, page),
    }
    let words = " q stop in order   p hold   ? help";
    frame.render_widget(Paragraph::new(Span::styled(words, DIM)), keys);
}

/// Draws a part of the view into its place.
type Part = fn(&Scene, &mut Frame, Rect);

/// What there is room for.
fn parts(scene: &Scene, frame: &mut Frame, area: Rect) {
    let lines = frame.area().height;
    let plan = PLANS.iter().find(|plan| lines >= plan.lines).unwrap_or(&PLANS[PLANS.len() - 1]);
    let below = [plan.cpus, plan.chart, plan.notes].map(Constraint::Length);
    let heights = [Constraint::Length(1), Constraint::Fill(1)].into_iter().chain(below);
    let [now, ladder, cpus, chart, notes] = Layout::vertical(heights).areas(area);
    frame.render_widget(Paragraph::new(doing(scene)), now);
    ladder::draw(scene, frame, ladder);
    let parts: [(u16, Rect, Part); 3] =
        [(plan.cpus, cpus, cpu::draw), (plan.chart, chart, chart::draw), (plan.notes, notes, warnings)];
    for (_, area, draw) in parts.into_iter().filter(|(lines, ..)| *lines > 0) {
        draw(scene, frame, area);
    }
}

/// Target, profile, time gone and left; how far it is.
fn head(scene: &Scene, view: &View, frame: &mut Frame, area: Rect) {
    let gone = about(scene.elapsed_ns as f64 / 1e9);
    let left = scene.now.as_ref().map(|now| about(now.left_ns as f64 / 1e9));
    let left = left.map_or(String::new(), |left| format!(", about {left} left"));
    let what = format!("{} · {} · ", scene.target, scene.profile);
    let what = if area.width >= NARROW { what } else { String::new() };
    let held = if view.held { " held: p goes on " } else { "" };
    let title = Line::from(vec![
        Span::styled(" linerate ", BOLD.add_modifier(Modifier::REVERSED)),
        Span::raw(format!(" {what}{gone}{left} ")),
        Span::styled(held, WARNING.add_modifier(Modifier::REVERSED)),
    ]);
    let (share, stage) = scene.now.as_ref().map_or((0.0, "preparing"), |now| (now.done_share, &now.stage));
    let width = (area.width / 3).clamp(8, 40);
    let line = Line::from(vec![
        Span::raw(" ▕"),
        Span::styled(bar(share, width), RATE),
        Span::raw(format!("▏ {stage}")),
    ]);
    frame.render_widget(Paragraph::new(vec![title, line]), area);
}

/// The case under way and its sizes; of a long one first of all, for how long.
fn doing(scene: &Scene) -> Line<'_> {
    let Some(now) = &scene.now else { return Line::from("") };
    let long = is_long(now.predicted_ns).then(|| about(now.predicted_ns as f64 / 1e9));
    let (time, still) =
        long.map_or_else(Default::default, |time| (format!("for {time}: "), " · the page stands still"));
    Line::from(vec![
        Span::styled(" measuring ", DIM),
        Span::styled(time, WARNING),
        Span::styled(now.case.to_string(), BOLD),
        Span::raw(format!(" · {}", now.sizes())),
        Span::styled(still, WARNING),
    ])
}

fn help(frame: &mut Frame, area: Rect) {
    let lines: Vec<Line> = HELP.iter().map(|line| Line::from(format!(" {line}"))).collect();
    let page = Paragraph::new(lines).wrap(Wrap { trim: false });
    frame.render_widget(page.block(section(" help ")), area);
}

fn warnings(scene: &Scene, frame: &mut Frame, area: Rect) {
    let room = usize::from(area.height.saturating_sub(1));
    let line = |note: &super::note::Note| {
        let times = if note.times > 1 { format!(" ({} times)", note.times) } else { String::new() };
        Line::from(format!(" {}{times}", note.text))
    };
    let lines: Vec<Line> = scene.notes.iter().take(room).map(line).collect();
    let more = scene.notes.len().saturating_sub(room);
    let title = match (scene.notes.len(), more) {
        (0, _) => " no warning so far ".to_owned(),
        (_, 0) => " warnings ".to_owned(),
        _ => format!(" warnings, the newest first; {more} more "),
    };
    frame.render_widget(Paragraph::new(lines).style(WARNING).block(section(&title)), area);
}

/// A part of the page under a line with its name.
fn section(title: &str) -> Block<'_> {
    Block::new().borders(Borders::TOP).border_style(DIM).title(Span::styled(title, Style::new()))
}

/// A share as a bar of this many columns.
fn bar(share: f64, width: u16) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * 8.0 * f64::from(width)).round() as usize;
    let text = "█".repeat(eighths / 8) + PARTS[eighths % 8];
    format!("{text:<width$}", width = usize::from(width))
}
