//! How equal the shares are: the model of a device with 132 multiprocessors of two thread blocks each, key tiles of 64, and
//! 1.5 tiles that an item really costs beside its keys. The figures are those of an independent simulation of the same rule
//! in another language; the log-normal lengths are the ones that it drew.

use kvledger_core::split::{Split, SplitBatch};

const THREAD_BLOCKS: u32 = 264;
/// What an item costs beside its keys, in tiles: the device's side. The planner reckons with 2.
const OVERHEAD: f64 = 1.5;

const LOG_NORMAL_32: [u32; 32] = [
    2258, 1677, 15114, 5528, 1545, 15266, 14963, 22812, 1807, 4187, 1426, 9787, 1181, 11942, 2792, 4372, 4345, 4022,
    3287, 5074, 11224, 9161, 6733, 5242, 1706, 12327, 4920, 4759, 4160, 2813, 4880, 5847,
];

const LOG_NORMAL_128: [u32; 128] = [
    540, 144, 2831, 3673, 343, 1537, 595, 936, 3984, 1146, 540, 1732, 2093, 5515, 236, 284, 4007, 5892, 530, 1338, 892,
    696, 195, 4192, 2368, 4176, 1486, 435, 1775, 268, 1017, 198, 954, 1442, 12947, 6339, 16667, 326, 390, 868, 5016,
    6226, 5170, 1391, 10059, 508, 1007, 4456, 2394, 769, 9544, 7859, 340, 2825, 725, 8699, 927, 362, 5536, 912, 285,
    6633, 2767, 1455, 570, 5320, 831, 1320, 754, 9196, 4255, 7080, 1251, 261, 5393, 1097, 2864, 1275, 2251, 277, 364,
    1882, 623, 3543, 4608, 510, 5669, 20486, 3042, 1785, 6210, 1301, 2462, 6167, 1562, 3150, 2330, 1534, 859, 5227,
    1321, 2260, 3226, 6740, 841, 1954, 1454, 688, 2412, 5320, 18254, 979, 5569, 976, 664, 6162, 1196, 243, 8488, 5111,
    589, 7581, 5117, 873, 2742, 808, 364, 1839,
];

const LOG_NORMAL_64: [u32; 64] = [
    7133, 8457, 1828, 1601, 1061, 3672, 11999, 3096, 37573, 1176, 4907, 4129, 4300, 3422, 2345, 18991, 3945, 3146,
    16997, 13008, 19332, 10817, 2738, 6353, 2941, 1269, 7058, 3899, 8129, 5960, 7504, 16136, 2882, 69474, 4479, 12406,
    3860, 4389, 3333, 5389, 5145, 7073, 9304, 2180, 10135, 4362, 4415, 795, 29644, 1488, 1437, 10469, 39644, 5569,
    2506, 7496, 5306, 17610, 5243, 4318, 461, 1570, 844, 7026,
];

/// The busiest thread block over an equal share of the keys alone (1.00: perfect), and the items.
fn makespan(split: &Split, lengths: &[u32]) -> (f64, u32) {
    let mut words = vec![0; split.layout().expect("a good shape").bytes as usize / 4];
    split.plan(&SplitBatch { lengths, ..SplitBatch::default() }, 0, &mut words).expect("it fits");
    let plan = split.read(&words).expect("it is one");
    let tiles = |keys: u32| f64::from(keys.div_ceil(split.tile_keys));
    let cost =
        |thread_block| plan.items_of(thread_block).map(|item| tiles(item.end_key - item.first_key) + OVERHEAD).sum();
    let busiest = (0..split.thread_blocks).map(cost).fold(0.0, f64::max);
    let all: f64 = lengths.iter().map(|length| tiles(*length) * f64::from(split.heads)).sum();
    (busiest * f64::from(split.thread_blocks) / all, plan.header().items)
}

fn with_one_of_128k(others: usize) -> Vec<u32> {
    let mut lengths = vec![512; others + 1];
    lengths[0] = 131_072;
    lengths
}

#[test]
fn shares_are_as_equal_as_the_model_says() {
    let cases: [(&str, u32, Vec<u32>, f64, u32); 9] = [
        ("8 x 4K", 8, vec![4_096; 8], 1.13, 256),
        ("33 x 4K", 8, vec![4_096; 33], 1.02, 264),
        ("64 x 4K", 8, vec![4_096; 64], 1.04, 760),
        ("32 log-normal, median 4K", 8, LOG_NORMAL_32.to_vec(), 1.04, 508),
        ("128 log-normal, median 2K", 8, LOG_NORMAL_128.to_vec(), 1.05, 1_270),
        ("one 128K + 31 x 512", 8, with_one_of_128k(31), 1.06, 508),
        ("one 128K + 127 x 512", 8, with_one_of_128k(127), 1.10, 1_274),
        ("64 log-normal, 1 head", 1, LOG_NORMAL_64.to_vec(), 1.08, 315),
        ("17 x 8K, 4 heads", 4, vec![8_192; 17], 1.08, 321),
    ];
    for (name, heads, lengths, expected, items) in cases {
        let split = Split::decode(heads, heads * 4, THREAD_BLOCKS, lengths.len() as u32, 131_072);
        let (found, found_items) = makespan(&split, &lengths);
        println!("{name}: {found:.3}, {found_items} items");
        assert!((found - expected).abs() <= 0.005, "{name}: {found}, expected {expected}");
        assert_eq!(found_items, items, "{name}");
    }
}

/// What cutting is for: without it one long sequence among short ones takes 29 times as long as an equal share.
#[test]
fn without_cuts_the_longest_sequence_decides() {
    let lengths = with_one_of_128k(31);
    let split = Split { chunk_keys: 1 << 30, ..Split::decode(8, 32, THREAD_BLOCKS, 32, 131_072) };
    let (found, items) = makespan(&split, &lengths);
    assert_eq!(items, 32 * 8);
    assert!(found > 29.0, "{found}");
}
