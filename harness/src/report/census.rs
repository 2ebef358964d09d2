//! The census of a trace for people: what it is, how it is spread, what it fills and what it shares. Plain characters and
//! no colour, so that it reads the same everywhere.

use super::columns::Columns;
use super::number::{grouped, percent};
use super::prose::prose;
use crate::census::{Census, Histogram, Ids, Sharing, Spread};

/// Bins of arrivals that are shown.
const ARRIVAL_BINS: usize = 12;
const BAR_MIN: usize = 5;
const BAR_MAX: usize = 24;

/// The whole report on the trace `name`, for lines of `width` characters.
pub fn census(name: &str, census: &Census, width: usize) -> String {
    let mut out = String::new();
    rows(&mut out, name, census, width);
    arrivals(&mut out, census, width);
    lengths(&mut out, census, width);
    blocks(&mut out, census, width);
    match &census.ids {
        None => say(&mut out, width, "\nNo ids: nothing is known about equal prefixes."),
        Some(ids) => {
            identities(&mut out, ids, width);
            sharing(&mut out, census, width);
        }
    }
    out
}

/// A sentence.
fn say(out: &mut String, width: usize, text: &str) {
    out.push_str(&prose(text, width, 2));
}

fn count(number: usize) -> String {
    grouped(number as u64)
}

/// A number of things that are called `one` when there is one of them.
fn of(number: usize, one: &str) -> String {
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

fn rows(out: &mut String, name: &str, census: &Census, width: usize) {
    let files = if census.files == 1 { String::new() } else { format!(", {} files", count(census.files)) };
    let packed = match census.gzip_files {
        0 => String::new(),
        all if all == census.files => ", gzip".to_string(),
        some => format!(", {} of them gzip", count(some)),
    };
    say(out, width, &format!("{name}: {} (by {}){files}{packed}", census.format, census.recognised_by));
    say(out, width, &format!("{}, {}", of(census.rows, "row"), of(census.requests, "request")));
    for dropped in &census.dropped {
        say(
            out,
            width,
            &format!("  dropped: {} with {}, first {}", count(dropped.rows), dropped.reason, dropped.first),
        );
    }
    if census.beyond_first > 0 {
        say(out, width, &format!("  left out by --first: {}", count(census.beyond_first)));
    }
    let owner = &census.ownership;
    if owner.tenants > 1 {
        let most = of(owner.tenant_requests_max, "request");
        say(out, width, &format!("{}, at most {most} of one", of(owner.tenants, "tenant")));
    }
    if owner.sessions > 0 {
        let have = if owner.sessions == 1 { "has" } else { "have" };
        let (sessions, requests) = (of(owner.sessions, "session"), of(owner.session_requests, "request"));
        let most = count(owner.session_requests_max);
        say(out, width, &format!("{sessions} {have} {requests}, at most {most} in one"));
    }
}

/// Microseconds as seconds, rounded to milliseconds.
fn seconds(us: u64) -> String {
    let ms = us.saturating_add(500) / 1_000;
    format!("{}.{:03}", grouped(ms / 1_000), ms % 1_000)
}

fn arrivals(out: &mut String, census: &Census, width: usize) {
    let arrivals = &census.arrivals;
    let rate = arrivals.per_second.map_or("all at once".to_string(), |rate| format!("{rate:.2} a second"));
    let text = format!(
        "\narrivals: {} s from first to last, {rate}, busiest second {}; by seconds from the first",
        seconds(arrivals.span_us),
        grouped(arrivals.busiest_second)
    );
    say(out, width, &text);
    let bins = census.histograms.arrival_us.at_most(ARRIVAL_BINS);
    let names = bins.0.iter().map(|bin| seconds(bin.from));
    let bar = width.saturating_sub(30).clamp(BAR_MIN, BAR_MAX);
    let table = Columns::new(names)
        .column("requests", bins.0.iter().map(|bin| grouped(bin.requests)))
        .texts("", bars(&bins, bar));
    out.push_str(&table.render(width));
}

/// A bar for each bin: the fullest has `width` characters, and what is not empty has at least one.
fn bars(bins: &Histogram, width: usize) -> Vec<String> {
    let most = bins.most().max(1);
    let length = |requests: u64| (u128::from(requests) * width as u128).div_ceil(u128::from(most)) as usize;
    bins.0.iter().map(|bin| "#".repeat(length(bin.requests))).collect()
}

fn lengths(out: &mut String, census: &Census, width: usize) {
    let gap = &census.arrivals.gap_us;
    let spread = |spread: &Spread, text: fn(u64) -> String| {
        let Spread { min, p50, p90, p95, p99, p100, .. } = *spread;
        let mean = text(spread.mean.round() as u64);
        let mut cells = vec![text(min), mean];
        cells.extend([p50, p90, p95, p99, p100].map(text));
        cells
    };
    say(out, width, "\nlengths in tokens, gaps in seconds");
    let table = Columns::new(["min", "mean", "p50", "p90", "p95", "p99", "p100"])
        .column("prompt", spread(&census.prompt, grouped))
        .column("output", spread(&census.output, grouped))
        .column("total", spread(&census.total, grouped))
        .column("gap", spread(gap, seconds));
    out.push_str(&table.render(width));
    say(out, width, "\nrequests by tokens, from 2^k to 2^(k+1) - 1");
    histograms(out, census, width);
}

fn histograms(out: &mut String, census: &Census, width: usize) {
    let (prompts, outputs) = (&census.histograms.prompt_tokens, &census.histograms.output_tokens);
    let mut bounds: Vec<u64> = prompts.0.iter().chain(&outputs.0).map(|bin| bin.from).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let bar = (width.saturating_sub(38) / 2).clamp(BAR_MIN, BAR_MAX);
    // Bins of the one that the other does not have are empty there.
    let spread_out = |histogram: &Histogram| -> (Vec<String>, Vec<String>) {
        let bars = bars(histogram, bar);
        let at = |from: &u64| histogram.0.iter().position(|bin| bin.from == *from);
        let counts =
            |place: Option<usize>| place.and_then(|place| histogram.0.get(place)).map_or(0, |bin| bin.requests);
        let shown = |from: &u64| (grouped(counts(at(from))), at(from).map_or(String::new(), |at| bars[at].clone()));
        bounds.iter().map(shown).unzip()
    };
    let ((prompt, prompt_bars), (output, output_bars)) = (spread_out(prompts), spread_out(outputs));
    let table = Columns::new(bounds.iter().map(|&from| grouped(from)))
        .column("prompts", prompt)
        .texts("", prompt_bars)
        .column("outputs", output)
        .texts("", output_bars);
    out.push_str(&table.render(width));
}

fn blocks(out: &mut String, census: &Census, width: usize) {
    let statics = &census.statics;
    let slots = statics.total_blocks * u64::from(statics.block_tokens);
    say(out, width, &format!("\nblocks of {} tokens, nothing shared", grouped(statics.block_tokens.into())));
    let mut names = vec!["of prompts", "by growth", "together", "padding, tokens", "  of slots", "  that is"];
    let mut cells = vec![
        grouped(statics.prompt_blocks),
        grouped(statics.growth_blocks),
        grouped(statics.total_blocks),
        grouped(statics.paged_slack_tokens),
        grouped(slots),
        percent(statics.paged_slack_tokens, slots),
    ];
    let region = format!("fit regions of {}", grouped(statics.max_ctx.into()));
    if let Some(contiguous) = &statics.contiguous {
        names.extend([region.as_str(), "  do not fit", "  left idle, tokens", "  of slots", "  that is"]);
        cells.extend([
            grouped(contiguous.contig_fit),
            grouped(contiguous.contig_over),
            grouped(contiguous.contig_idle_tokens),
            grouped(contiguous.contig_reserved_tokens),
            percent(contiguous.contig_idle_tokens, contiguous.contig_reserved_tokens),
        ]);
    }
    out.push_str(&titleless(&Columns::new(names).column("", cells).render(width)));
}

/// A table whose columns have no titles, without the empty line where they would be.
fn titleless(table: &str) -> String {
    table.strip_prefix('\n').unwrap_or(table).to_string()
}

fn identities(out: &mut String, ids: &Ids, width: usize) {
    let (tokens, from) = (grouped(ids.tokens.into()), &ids.tokens_from);
    let unit = if ids.tokens == 1 { "token" } else { "tokens" };
    say(out, width, &format!("\nids: {} different ones, {tokens} {unit} each (by {from})", grouped(ids.different)));
    if ids.several_parents == 0 {
        say(out, width, "Every id always follows the same id: equal ids are equal prefixes.");
    } else {
        let (several, share) = (grouped(ids.several_parents), percent(ids.several_parents, ids.different));
        let text =
            format!("{several} ids ({share}) follow several: an id is not a prefix. Blocks compare whole prefixes.");
        say(out, width, &text);
    }
    if ids.requests_too_many > 0 {
        let text = format!(
            "{} of {} requests have more ids than tokens for them: does an id cover fewer than {tokens}? \
             Give --ids-block-tokens.",
            count(ids.requests_too_many),
            count(ids.requests)
        );
        say(out, width, &text);
    }
    if ids.requests_too_few > 0 {
        let text = format!(
            "{} of {} requests have prompts that their ids do not name to the end: does an id cover more than {tokens}? \
             Give --ids-block-tokens.",
            count(ids.requests_too_few),
            count(ids.requests)
        );
        say(out, width, &text);
    }
}

fn sharing(out: &mut String, census: &Census, width: usize) {
    say(out, width, "\nequal prefixes in blocks, and a cache that never forgets, by trust groups");
    let names = [
        "identified",
        "distinct",
        "hits",
        "  of identified",
        "  of prompt blocks",
        "longest prefix",
        "requests with hits",
        "hits, mean",
        "hits, p50",
        "hits, p90",
        "hits, p99",
        "hits, p100",
    ];
    let cells = |sharing: &Sharing| {
        let hits = &sharing.hits_per_request;
        [
            grouped(sharing.identified_blocks),
            grouped(sharing.distinct_blocks),
            grouped(sharing.hits_unlimited),
            percent(sharing.hits_unlimited, sharing.identified_blocks),
            percent(sharing.hits_unlimited, census.statics.prompt_blocks),
            grouped(sharing.longest.into()),
            grouped(sharing.requests_with_hits),
            grouped(hits.mean.round() as u64),
            grouped(hits.p50),
            grouped(hits.p90),
            grouped(hits.p99),
            grouped(hits.p100),
        ]
    };
    let mut table = Columns::new(names);
    for (rule, sharing) in &census.prefix {
        table = table.column(rule, cells(sharing));
    }
    out.push_str(&table.render(width));
    depths(out, census, width);
}

fn depths(out: &mut String, census: &Census, width: usize) {
    // Identified blocks do not depend on groups, so that all rules have the same depths.
    let Some(depths) = census.prefix.values().map(|sharing| &sharing.by_depth).next() else { return };
    say(out, width, "\nhits by depth: of blocks so far into the prompt, how many were there before");
    let names = depths.iter().map(|depth| match depth.from == depth.to {
        true => grouped(depth.from.into()),
        false => format!("{} to {}", grouped(depth.from.into()), grouped(depth.to.into())),
    });
    let mut table = Columns::new(names).column("identified", depths.iter().map(|d| grouped(d.identified_blocks)));
    for (rule, sharing) in &census.prefix {
        table = table.column(rule, sharing.by_depth.iter().map(|d| percent(d.hits, d.identified_blocks)));
    }
    out.push_str(&table.render(width));
}
