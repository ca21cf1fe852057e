//! Many threads that read and change one source.

use std::collections::{BTreeSet, HashMap};
use std::thread;

use haft_executor::{SharedToolkit, ToolIdentity, ToolSource};

use super::{generation, names, tool};

const WRITERS: u32 = 4;
const CHANGES: u32 = 60;

/// Every writer adds tools of its own, and removes every third.
fn write(tools: &SharedToolkit, writer: u32) {
    for change in 0..CHANGES {
        let name = format!("w{writer}_{change}");
        tools.add(tool(&name, change)).unwrap();
        if change % 3 == 0 {
            assert!(tools.remove(&name).is_some());
        }
    }
}

#[test]
fn no_change_is_lost() {
    let tools = SharedToolkit::default();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let tools = &tools;
            scope.spawn(move || write(tools, writer));
        }
    });
    let removed = CHANGES.div_ceil(3);
    assert_eq!(generation(&tools), u64::from(WRITERS * (CHANGES + removed)));
    let expected = (0..WRITERS).flat_map(|writer| {
        (0..CHANGES).filter(|change| change % 3 != 0).map(move |change| format!("w{writer}_{change}"))
    });
    assert_eq!(names(&tools).into_iter().collect::<BTreeSet<_>>(), expected.collect::<BTreeSet<_>>());
}

/// Of many writers that add one name, one succeeds.
#[test]
fn a_name_is_added_once() {
    let tools = SharedToolkit::default();
    let added: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let tools = &tools;
                scope.spawn(move || (0..CHANGES).filter(|n| tools.add(tool(&format!("t{n}"), writer)).is_ok()).count())
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!((added, generation(&tools)), (CHANGES as usize, u64::from(CHANGES)));
}

/// Readers of a source that is made of two see generations that never decrease, and one set of tools for each.
#[test]
fn one_generation_has_one_set_of_tools_however_it_is_read() {
    let (first, second) = (SharedToolkit::default(), SharedToolkit::default());
    let all = first.clone().merged(second.clone().namespaced("ns").unwrap());
    let seen: Vec<Vec<(u64, Vec<ToolIdentity>)>> = thread::scope(|scope| {
        for (writer, tools) in [&first, &second].into_iter().enumerate() {
            scope.spawn(move || write(tools, u32::try_from(writer).unwrap()));
        }
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let all = &all;
                scope.spawn(move || {
                    let read = (0..400).map(|_| all.snapshot());
                    // The tools are kept, so that each identity stays what it is.
                    let read: Vec<_> = read.collect();
                    let identities =
                        |kit: &haft_executor::Toolkit| kit.iter().map(haft_executor::Tool::identity).collect();
                    read.iter().map(|snapshot| (snapshot.generation(), identities(snapshot.toolkit()))).collect()
                })
            })
            .collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    let mut known: HashMap<u64, &Vec<ToolIdentity>> = HashMap::new();
    for read in &seen {
        assert!(read.is_sorted_by_key(|(generation, _)| *generation), "a generation decreased");
        for (generation, tools) in read {
            assert_eq!(known.entry(*generation).or_insert(tools), &tools, "generation {generation}");
        }
    }
    assert_eq!(generation(&all), generation(&first) + generation(&second));
}
