//! The CPUs of both hosts: what the measuring threads took in the last step, and what else was going on.

use super::super::load::{Beside, Load};
use super::super::scene::Scene;
use super::{RATE, bar, section};
use crate::plan::HostId;
use crate::unit::percent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// Draws a line for each CPU that measures.
pub fn draw(scene: &Scene, frame: &mut Frame, area: Rect) {
    let width = (area.width / 3).clamp(8, 40);
    let room = usize::from(area.height.saturating_sub(1));
    let lines: Vec<Line> = scene.loads.threads.iter().take(room).map(|load| line(load, width)).collect();
    let hidden = scene.loads.threads.len().saturating_sub(room);
    let more = if hidden > 0 { format!("; {hidden} more") } else { String::new() };
    let beside: Vec<String> = scene.loads.beside().iter().map(beside).collect();
    let title = format!(" CPUs in the last step{more}{} ", beside.concat());
    frame.render_widget(Paragraph::new(lines).block(section(&title)), area);
}

fn line(load: &Load, width: u16) -> Line<'static> {
    let cpu = load.cpu.map_or("CPU ?".into(), |cpu| format!("CPU {cpu}"));
    Line::from(vec![
        Span::raw(format!(" {} {cpu:<7}▕", load.host)),
        Span::styled(bar(load.share(), width), RATE),
        Span::raw(format!("▏{:>4.0} %  {}", 100.0 * load.share(), load.does.join(", "))),
    ])
}

fn beside(beside: &Beside) -> String {
    let hosts: Vec<String> = beside.hosts.iter().map(HostId::to_string).collect();
    let hosts = hosts.join(", ");
    format!(" · beside on {hosts}: others {}, stolen {}", percent(beside.others), percent(beside.stolen))
}
