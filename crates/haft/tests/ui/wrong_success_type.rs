//! A handler that returns another type than the tool declares.

use haft::tool::Tool;

fn main() {
    let _ = Tool::new("count").success::<u32>().handler(|(), _cx| async { "three" });
}
