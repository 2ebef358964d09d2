//! The plan for people: names on the left, figures on the right, a figure below its name where there is no room.

use super::document::{Document, FitDocument, KindDocument, NeededDocument};
use super::size::Bytes;
use crate::report::{self, grouped, prose};
use std::fmt::Write;

/// How wide lines may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    columns: usize,
}

/// Width of names.
const NAMES: usize = 36;
/// Below this many columns figures stand under their names.
const NARROW: usize = 72;

impl Page {
    /// Lines of at most so many columns; not below 30, nor above 110.
    pub fn new(columns: usize) -> Page {
        Page { columns: columns.clamp(30, 110) }
    }

    /// A text on lines of its own, those after the first with `indent` spaces.
    pub(crate) fn say(self, out: &mut String, text: &str, indent: usize) {
        out.push_str(&prose(text, self.columns, indent));
    }

    /// A text that goes on where `out` ends, which is at `indent`, as its further lines are.
    pub(crate) fn go_on(self, out: &mut String, text: &str, indent: usize) {
        report::go_on(out, text, self.columns, indent, indent);
    }

    const fn is_narrow(self) -> bool {
        self.columns < NARROW
    }

    fn line(self, out: &mut String, name: &str, figure: &str) {
        let under = self.is_narrow() || name.chars().count() >= NAMES;
        if under && !name.is_empty() {
            self.say(out, name, 2);
        }
        let indent = if self.is_narrow() { 4 } else { NAMES };
        let beside = if under { "" } else { name };
        let _ = write!(out, "{beside:indent$}");
        self.go_on(out, figure, indent);
    }

    fn title(self, out: &mut String, title: &str) {
        let _ = writeln!(out, "\n{title}\n{}", "─".repeat(self.columns.min(100)));
    }

    fn note(self, out: &mut String, text: &str) {
        self.say(out, text, 0);
    }
}

/// A size, and the number of bytes.
fn exact(bytes: u64) -> String {
    if bytes < 1024 { format!("{bytes} bytes") } else { format!("{} ({} bytes)", Bytes(bytes), grouped(bytes)) }
}

/// The whole page.
pub fn render(document: &Document, page: Page) -> String {
    let mut out = String::new();
    cache(&mut out, document, page);
    weights(&mut out, document, page);
    device(&mut out, document, page);
    load(&mut out, document, page);
    needed(&mut out, document, page);
    if !document.notes.is_empty() {
        out.push('\n');
    }
    document.notes.iter().for_each(|text| page.note(&mut out, text));
    if let Some(replay) = &document.replay {
        // In one piece, to be copied.
        let _ = writeln!(out, "\n{replay}");
    }
    out
}

fn cache(out: &mut String, document: &Document, page: Page) {
    let model_type = document.model_type.as_deref().unwrap_or("no model_type");
    page.line(out, "model", &format!("{model_type}, {}", document.model));
    let ranks = document.tensor_parallel;
    if ranks > 1 {
        page.line(out, "ranks", &format!("{ranks}; all figures are of one of them"));
    }
    page.line(out, "cache is kept in", &format!("{} (from {})", document.kv_type, document.kv_type_from));
    page.line(out, "bytes a token, all layers", &exact(document.token_bytes));
    for kind in &document.kinds {
        let name = kind_name(kind);
        let (token, block) = (exact(kind.token_bytes), exact(kind.block_bytes));
        page.line(out, &format!("  {} {name} layers", kind.layers), &format!("{token} a token"));
        page.line(out, "", &format!("{block} a block of {} tokens", document.block_tokens));
        if let Some(most) = kind.sequence_blocks_max {
            page.line(out, "", &format!("a sequence holds at most {} blocks, however long it is", grouped(most)));
        }
    }
    if document.layers_with_state > 0 {
        let state = format!("{} a sequence, however long it is", exact(document.state_bytes));
        page.line(out, &format!("  {} layers with a state", document.layers_with_state), &state);
    }
    if document.layers_without > 0 {
        page.line(out, &format!("  {} layers without a cache", document.layers_without), "nothing");
    }
}

fn kind_name(kind: &KindDocument) -> String {
    kind.window.map_or_else(|| "full".to_string(), |window| format!("window ({})", grouped(window.into())))
}

fn weights(out: &mut String, document: &Document, page: Page) {
    let weights = &document.weights;
    page.title(out, "weights");
    match (weights.from, weights.parameters) {
        ("config", Some(parameters)) => {
            page.line(out, "parameters, counted in the config", &grouped(parameters));
            let parts: Vec<String> =
                weights.parts.iter().map(|(name, count)| format!("{name} {}", grouped(*count))).collect();
            page.line(out, "  of these", &parts.join(", "));
            if let Some(on_rank) = weights.parameters_on_rank.filter(|&on_rank| on_rank != parameters) {
                page.line(out, "  on one rank", &grouped(on_rank));
            }
            for left_out in &weights.left_out {
                page.line(out, "  not counted", left_out);
            }
        }
        (_, Some(parameters)) => page.line(out, "parameters, as --parameters says", &grouped(parameters)),
        (_, None) => page.line(out, "weights", "as --region weights says"),
    }
    if let Some(weights_type) = &weights.weights_type {
        page.line(out, "stored in", weights_type);
    }
    if let Some(bytes) = weights.bytes {
        page.line(out, "bytes on one device", &exact(bytes));
    }
}

fn device(out: &mut String, document: &Document, page: Page) {
    let Some(device) = document.device_bytes else { return };
    page.title(out, &format!("device, {}", exact(device)));
    for region in kvledger_core::plan::Region::ALL {
        let name = super::device::name(region);
        if let Some(&bytes) = document.regions.get(name) {
            let text = if bytes == 0 { "0: nothing is set aside".to_string() } else { exact(bytes) };
            page.line(out, name, &text);
        }
    }
    let sum: u64 = document.regions.values().sum();
    page.line(out, "given to no region", &exact(device.saturating_sub(sum)));
    page.title(out, "pool");
    for kind in &document.kinds {
        let (Some(blocks), Some(safety), Some(bytes), Some(tokens)) =
            (kind.blocks, kind.safety, kind.pool_bytes, kind.tokens)
        else {
            continue;
        };
        let name = kind_name(kind);
        page.line(
            out,
            &format!("{name} layers: N"),
            &format!("{} usable blocks, {} tokens", grouped(blocks.into()), grouped(tokens)),
        );
        page.line(out, "  S", &format!("{} blocks", grouped(safety.into())));
        page.line(out, "  bytes", &exact(bytes));
        page.line(
            out,
            "  of which the null block, id 0",
            &format!("{}; it is never handed out", exact(kind.block_bytes)),
        );
    }
    if let Some(sequences) = document.sequences {
        page.line(out, "states", &format!("for {} sequences", grouped(sequences)));
    }
    if let Some(unused) = document.unused_bytes {
        page.line(out, "left over by rounding", &exact(unused));
    }
    if !document.has_one_limit() {
        page.note(out, "Divided so that the most requests fit at their longest.");
    }
}

fn load(out: &mut String, document: &Document, page: Page) {
    let Some(load) = &document.load else {
        page.note(out, "\nHow many requests fit: give --prompt and --output, --lengths, or --trace.");
        return;
    };
    page.title(out, "requests");
    let (prompts, outputs) = (grouped(load.prompt_tokens), grouped(load.output_tokens));
    page.line(
        out,
        "lengths",
        &format!("{} (prompts {prompts} tokens, outputs {outputs})", grouped(load.lengths as u64)),
    );
    if load.too_long > 0 {
        page.line(out, "left out, longer than the context", &grouped(load.too_long as u64));
    }
    let share = |[part, whole]: [u64; 2]| {
        let percent = part as f64 * 100.0 / whole as f64;
        format!("{} of {} slots ({percent:.2} %)", grouped(part), grouped(whole))
    };
    if let Some(slack) = load.slack {
        page.line(out, "empty slots in their own blocks", &share(slack));
    }
    if let (Some(waste), Some(context)) = (load.waste, document.context) {
        page.line(out, &format!("empty in regions of {}", grouped(context.into())), &share(waste));
    }
    match table(document, page) {
        Some(table) => out.push_str(&table),
        None => document.policies.iter().for_each(|fit| stacked(out, fit, page)),
    }
    document.policies.iter().for_each(|fit| exceeded(out, document, fit, page));
    if let Some(sharing) = document.sharing {
        page.line(out, "full, one trust group, shared prefix", &format!("{} requests", grouped(sharing)));
    }
    if document.policies.iter().any(|fit| fit.policy == "percentile") {
        page.note(out, "A percentile is no bound, and a Q taken from these lengths is in-sample. Requests that resemble one another \
             exceed it together: then the chance for independent ones says nothing.");
    }
    page.note(
        out,
        "Admitted in the order given, over and over, until one does not fit. Blocks: what they are promised, and what they \
         hold when all are at their longest, for which S may be used as well.",
    );
}

/// Blocks of each kind, or `-` where there are none.
fn blocks(counts: &[u128]) -> String {
    let texts: Vec<String> = counts.iter().map(|&count| grouped(u64::try_from(count).unwrap_or(u64::MAX))).collect();
    if texts.is_empty() { "-".to_string() } else { texts.join(" + ") }
}

const HEADS: [&str; 6] = ["promised at admission", "requests", "blocks", "at longest", "too many", "limit"];
/// Width of the names of policies.
const POLICIES: usize = 12;

/// The cells of a policy, under [`HEADS`].
fn cells(fit: &FitDocument) -> [String; 6] {
    [
        fit.promise.clone(),
        grouped(fit.requests),
        blocks(&fit.promised_blocks),
        blocks(&fit.longest_blocks),
        blocks(&fit.short_by),
        fit.limited_by.clone(),
    ]
}

/// One line a policy, if that has room. Where only one thing can be the limit, it is not said.
fn table(document: &Document, page: Page) -> Option<String> {
    let rows: Vec<[String; 6]> = document.policies.iter().map(cells).collect();
    let shown = if document.has_one_limit() { HEADS.len() - 1 } else { HEADS.len() };
    let width = |column: usize| {
        let head = HEADS[column].chars().count();
        rows.iter().map(|row| row[column].chars().count()).fold(head, usize::max)
    };
    let widths: Vec<usize> = (0..shown).map(width).collect();
    if POLICIES + widths.iter().sum::<usize>() + 2 * (widths.len() - 1) > page.columns {
        return None;
    }
    let mut out = String::new();
    let mut row = |name: &str, cells: [&str; 6]| {
        let _ = write!(out, "{name:POLICIES$}{:first$}", cells[0], first = widths[0]);
        for (cell, width) in cells.iter().zip(&widths).skip(1) {
            let _ = write!(out, "  {cell:>width$}");
        }
        out.push('\n');
    };
    row("", HEADS);
    for (fit, cells) in document.policies.iter().zip(&rows) {
        row(fit.policy, cells.each_ref().map(String::as_str));
    }
    Some(out)
}

/// The same where there is no room for it.
fn stacked(out: &mut String, fit: &FitDocument, page: Page) {
    page.line(out, &format!("{}: {}", fit.policy, fit.promise), &format!("{} requests", grouped(fit.requests)));
    let names = ["blocks", "at longest", "too many", "limit"];
    let texts: Vec<String> =
        names.iter().zip(cells(fit).iter().skip(2)).map(|(name, cell)| format!("{name} {cell}")).collect();
    page.line(out, "", &texts.join(", "));
}

/// How often a promise below the longest is exceeded.
fn exceeded(out: &mut String, document: &Document, fit: &FitDocument, page: Page) {
    if let (Some(exceeding), Some(load)) = (fit.exceeding, &document.load) {
        let chance = fit.exceeded_at_least_once_if_independent;
        let chance = chance.map(|chance| {
            format!("; at least one of {} with probability {chance:.4}, if they are independent", grouped(fit.requests))
        });
        let text = format!(
            "{} of {} lengths{}",
            grouped(exceeding as u64),
            grouped(load.lengths as u64),
            chance.unwrap_or_default()
        );
        page.line(out, &format!("exceed what {} promises", fit.policy), &text);
    }
}

fn needed(out: &mut String, document: &Document, page: Page) {
    if document.needed.is_empty() {
        return;
    }
    page.title(out, "memory for the requests asked for");
    for NeededDocument { policy, blocks, pool_bytes, device_bytes } in &document.needed {
        let blocks: Vec<String> = blocks.iter().map(|&blocks| grouped(blocks.into())).collect();
        let text = format!("{} blocks, {}", blocks.join(" + "), exact(*pool_bytes));
        page.line(out, &format!("{policy}: pool"), &text);
        page.line(out, "  device", &exact(*device_bytes));
    }
}
