//! Runs of keys at random.

use super::pool::{PoolWanted, contents, pool_of, table_of, turn};
use crate::kernels::case::Gather;
use crate::kernels::numbers::Element;
use crate::kernels::random::Random;

/// Any case: some sequences without keys, some tables with ids of no pool, and with fewer columns than keys.
pub fn gather(random: &mut Random) -> Gather {
    let (element, to) = (random.one_of(&Element::ALL), random.one_of(&Element::WIDE));
    let (heads, head_dim) = (random.one_of(&[1, 2, 5]), random.one_of(&[16, 64, 80, 128, 192, 256]));
    let block_tokens = random.one_of(&[1, 3, 8, 16, 64, 256]);
    let lengths: Vec<u32> = (0..random.below(5)).map(|_| random.below(80)).collect();
    let (mut table, blocks) = table_of(&lengths, block_tokens, random.below(40), random);
    let wanted = PoolWanted { blocks, ..PoolWanted::random(random, element, heads, head_dim, block_tokens) };
    let shape = pool_of(&wanted, random);
    let pool = contents(shape, &table, &lengths, 1.0, random);
    let first_keys: Vec<u32> = lengths.iter().map(|length| random.below(length + 1)).collect();
    let counts = lengths.iter().zip(&first_keys).map(|(length, first)| random.below(length - first + 1)).collect();
    let mut bad = "";
    if random.once_in(3) {
        bad = ", ids of no pool";
        for row in &mut table.rows {
            let at = random.below(row.len() as u32) as usize;
            row[at] = random.one_of(&[0, blocks + 1, u32::MAX]);
        }
    }
    if table.columns > 1 && random.once_in(3) {
        bad = ", a table that is too short";
        table.columns -= 1;
        table.rows.iter_mut().for_each(|row| row.truncate(table.columns as usize));
    }
    turn(&mut table, random);
    let title = format!(
        "{} to {}, {heads} heads of {head_dim}, blocks of {block_tokens}, {:?}, lengths {lengths:?}{bad}",
        element.name(),
        to.name(),
        wanted.order
    );
    Gather { title, pool, table, first_keys, counts, element: to }
}
