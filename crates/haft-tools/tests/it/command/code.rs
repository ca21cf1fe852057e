//! A variable is never code: commands in which its value would be are rejected when they are built.

use haft_core::ToolCall;
use haft_executor::{Tool, Toolkit};
use haft_tools::command::{CommandTool, StdinFormat};
use serde_json::json;

/// Builds a command and returns its faults.
fn faults(argv: &[&str]) -> Vec<String> {
    let command = CommandTool::new(argv.iter().copied());
    let builder = Tool::dynamic("run").params_json(command.default_parameters());
    match command.build(builder) {
        Ok(_) => Vec::new(),
        Err(error) => error.faults.iter().map(ToString::to_string).collect(),
    }
}

/// Asserts that each command's last element is rejected, with a message that contains the reason.
fn assert_rejected(reason: &str, commands: &[&str]) {
    for command in commands {
        let argv: Vec<&str> = command.split(" | ").collect();
        let faults = faults(&argv);
        assert!(!faults.is_empty(), "accepted: {command}");
        let is_it = |fault: &&String| {
            fault.starts_with(&format!("/command/{}: {reason}", argv.len() - 1)) && fault.contains("literal")
        };
        assert!(faults.iter().find(is_it).is_some(), "{command}: {faults:?}");
    }
}

#[test]
fn a_value_is_never_code_of_an_interpreter() {
    assert_rejected(
        "a value would be code",
        &[
            "sh | -c | echo {p}",
            "/bin/sh | -c | {p}",
            "bash | -lc | echo {p}",
            "bash | -ec | echo {p}",
            "bash | -euo | pipefail | -c | echo {p}",
            "bash | -o | pipefail | -c | echo {p}",
            "bash | --norc | -O | extglob | -c | echo {p}",
            "bash | -c | -x | echo {p}",
            "bash | -cx | echo {p}",
            "sh | -ce | -x | echo {p}",
            "bash | -ceuo | pipefail | echo {p}",
            "bash | -euoc | pipefail | echo {p}",
            "bash | -oc | errexit | echo {p}",
            "bash | -c | -o | errexit | echo {p}",
            "bash | -c | -O | extglob | -e | echo {p}",
            "perl | -el | {p}",
            "sh | -c | -- | echo {p}",
            "zsh | -fc | echo {p}",
            "ksh | -c | echo {p}",
            "dash | -c | {p:json}",
            "fish | --command | echo {p}",
            "fish | --command=echo {p}",
            "fish | --comm | echo {p}",
            "busybox | sh | -c | echo {p}",
            "python3.12 | -c | print('{p}')",
            "python | -Ic | print('{p}')",
            "perl | -lane | print {p}",
            "perl | -E | say {p}",
            "perl | -e | print 1 | -e | say {p}",
            "perl | -ne | print | {p}",
            "ruby | -rjson | -e | puts {p}",
            "node | --eval | f({p})",
            "node | --eval=f({p})",
            "node | -pe | {p}",
            "node | -r | ./a.js | -e | {p}",
            "deno | eval | f({p})",
            "bun | -e | f({p})",
            "php | -d | a.b=c | -r | f({p});",
            "lua5.4 | -e | f({p})",
            "osascript | -e | say {p}",
            "Rscript | -e | {p}",
            "julia | --eval | {p}",
            "awk | {p}",
            "gawk | -F | , | {{print {p}}}",
            "sed | -n | s/a/{p}/",
            "sed | -i | -e | s/a/b/ | -e | {p}",
            "sed | --expression={p}",
            "C:\\Windows\\cmd.exe | /C | echo | {p}",
            "cmd | /s/c | {p}",
            "pwsh | -NoProfile | -Command | Write-Output | {p}",
            "powershell | -enc | {p}",
            "powershell | x.ps1 | {p}",
            "expect | -c | spawn {p}",
            "gnuplot | -e | {p}",
            "python3 | -m | timeit | {p}",
            "python3 | -m | pdb | -c | {p}",
            "perl | -F | {p}",
            "fish | -c | echo $argv | {p}",
            "csh | -c | echo $1 | {p}",
            "zsh | -c | printf %d \"$1\" | x | {p}",
            "ksh93 | -c | echo \"$1\" | x | {p}",
            "vim | +{p}",
            "less | +{p}",
            "pdflatex | \\input{p}",
            "swipl | -g | {p}",
            "gprolog | --query-goal | {p}",
            "kak | -e | {p}",
            "scsh | -c | {p}",
            "nim | e | {p}",
            "zig | run | {p}",
            "dart | run | {p}",
            "cypher-shell | {p}",
        ],
    );
}

/// Scripts that could run a value, and the reasons.
const SCRIPTS: &[(&str, &str)] = &[
    ("$1", "expands `$1` without double quotes"),
    ("$0", "expands `$0` without double quotes"),
    ("\"$1\"", "runs it as a program"),
    ("\"$0\" x", "runs it as a program"),
    ("\"$@\"", "runs it as a program"),
    ("A=1 \"$1\"", "would name the program that `env` starts"),
    ("rm $1", "expands `$1` without double quotes"),
    ("a=\"$1\"; $a", "expands `$a` without double quotes"),
    ("a=\"$1\"; eval \"$a\"", "would be code of `eval`"),
    ("eval \"$1\"", "would be code of `eval`"),
    ("exec \"$@\"", "would name the program that `exec` starts"),
    ("command \"$1\"", "would name the program that `command` starts"),
    ("timeout 5 \"$1\"", "would name the program that `timeout` starts"),
    ("ls; timeout 5 \"$1\"", "would name the program that `timeout` starts"),
    ("if true; then nice \"$1\"; fi", "would name the program that `nice` starts"),
    (". \"$1\"", "would name the code that `.` runs"),
    ("trap \"$1\" EXIT", "would be code of `trap`"),
    ("printf -v \"$1\" x", "would be code of `printf`"),
    ("[ \"$1\" -eq 1 ]", "would be code of `[`"),
    ("PATH=\"$1\" ls", "by the environment variable `PATH`"),
    ("sh -c \"$1\"", "would be code of `sh`"),
    ("sh -c '$1' sh \"$1\"", "the script of `sh` expands `$1` without double quotes"),
    ("bash -c \"echo $1\"", "would be code of `bash`"),
    ("python3 -c \"print('$1')\"", "would be code of `python3`"),
    ("echo \"$1\" | sh", "lets `sh` read code from stdin"),
    ("echo \"$1\" | xargs", "lets `xargs` read code from stdin"),
    ("echo \"$1\" | xargs sh -c", "lets `xargs` read code from stdin"),
    ("sh < \"$1\"", "lets `sh` read code from stdin"),
    ("find . | xargs -I X sh -c \"$1\"", "would be code of `xargs`"),
    ("git config \"$1\" x", "would be code of `git`"),
    ("echo `$1`", "contains `"),
    ("echo \"$(cat \"$1\")\"", "contains `$("),
    ("(ls \"$1\")", "contains `(`"),
    ("[[ a && \"$1\" -eq 1 ]]", "contains `[[`"),
    ("2>x eval \"$1\"", "would be code of `eval`"),
    ("A=1 2>&1 \"$1\"", "would name the program that `env` starts"),
    ("2>x \"$1\"", "runs it as a program"),
    ("wait -p \"$1\"", "would be code of `wait`"),
    ("jobs -x \"$1\"", "would be code of `jobs`"),
    ("alias x=eval\nx \"$1\"", "contains `alias`"),
    ("/bin/s? -c \"$1\"", "the program `/bin/s?`, which may be any"),
    ("timeout 5 e* \"$1\"", "the program `e*`, which may be any"),
    ("$HOME/x \"$1\"", "the program `$HOME/x`, which may be any"),
    ("~/x \"$1\"", "the program `~/x`, which may be any"),
    ("echo \"$1\" | while read -r PATH; do ls; done", "sets `PATH`"),
    ("for LD_PRELOAD in \"$1\"; do ls; done", "sets `LD_PRELOAD`"),
    ("X=\"$1\" sh -c 'eval \"$X\"'", "would be code of `eval`"),
    ("HOME=\"$1\"; sh -c 'eval \"$HOME\"'", "would be code of `eval`"),
    ("set -a; X=\"$1\"; bash -c '$X'", "expands `$X` without double quotes"),
    ("X=\"$1\" make", "would be code of `make`"),
    ("sh <x <<< \"$1\"", "lets `sh` read code from stdin"),
    ("echo \"$1\" | sh <x 0<&3", "lets `sh` read code from stdin"),
    ("exec 3<<< \"$1\"; sh <&3", "lets `sh` read code from stdin"),
    ("echo \"$1\" | make -f -", "lets `make` read code from stdin"),
    ("echo \"$1\" | python3 /dev/stdin", "lets `python3` read code from stdin"),
    ("echo \"$1\" | erb", "lets `erb` read code from stdin"),
    ("echo \"$1\" | sudo -s", "lets `sudo` read code from stdin"),
    ("echo \"$1\" | chroot /x", "lets `chroot` read code from stdin"),
    ("echo \"$1\" >x.sh; sh x.sh", "runs the file `x.sh`, which it may write before"),
    ("echo \"$1\" >x.sh; sh <./x.sh", "runs the file `./x.sh`, which it may write before"),
    ("echo \"$1\" | tee x; ./x", "runs the file `./x`, which it may write before"),
    ("cp in x; timeout 5 bash x \"$1\"", "runs the file `x`, which it may write before"),
    ("cd \"$1\" && ./run", "starts `./run` in the folder that the value names"),
    ("cd \"$1\" && timeout 5 ./run", "starts `./run` in the folder that the value names"),
    ("cd \"$1\" && sh run.sh", "starts `run.sh` in the folder that the value names"),
    ("cd \"$1\" && python3 <run.py", "starts `run.py` in the folder that the value names"),
    ("cd -- \"/srv/$1\"; ls; bin/run x", "starts `bin/run` in the folder that the value names"),
];

#[test]
fn a_value_is_never_code_of_a_fixed_script() {
    for &(script, reason) in SCRIPTS {
        for argv in [
            &["sh", "-c", script, "x", "{p}"][..],
            &["env", "bash", "-ec", script, "{p}"],
            &["w", "sh", "-c", script, "--", "{p}"],
        ] {
            let faults = faults(argv);
            let expected = format!("/command/{}: a value would be code, since the script of `", argv.len() - 1);
            let is_it = |fault: &String| fault.starts_with(&expected) && fault.contains(reason);
            // A script that is a program's name is rejected as such behind `env`.
            assert!(faults.iter().any(is_it), "{argv:?}: {faults:?}");
        }
    }
}

#[test]
fn a_value_in_the_environment_is_never_code_of_a_fixed_script() {
    for (setting, script) in [
        ("env | X={p}", "eval \"$X\""),
        ("env | X={p}", "$X"),
        ("env | HOME=/a/{p}", "sh -c 'eval \"$HOME\"'"),
        ("sudo | X={p}", "ls $X"),
        ("docker | run | -e | X={p} | img", "eval \"$X\""),
        ("docker | run | --env=X={p} | img", "$(ls \"$X\")"),
        ("mywrap | X={p}", "eval \"$X\""),
    ] {
        let argv: Vec<&str> = setting.split(" | ").chain(["sh", "-c", script]).collect();
        let faults = faults(&argv);
        assert!(faults.iter().any(|fault| fault.contains("since the script of `sh`")), "{argv:?}: {faults:?}");
    }
}

#[test]
fn a_value_in_the_environment_is_never_code_of_make() {
    for argv in [
        &["env", "X={p}", "make", "x"][..],
        &["sudo", "X=a{p}", "make"],
        &["env", "X={p}", "timeout", "5", "gmake"],
        &["docker", "run", "-e", "X={p}", "img", "make"],
        &["docker", "run", "--env=X={p}", "img", "make"],
    ] {
        let faults = faults(argv);
        assert!(faults.iter().any(|fault| fault.contains("a value would be code of `")), "{argv:?}: {faults:?}");
    }
    assert_eq!(faults(&["sudo", "--user={p}", "make"]), [""; 0]);
}

#[test]
fn a_value_is_never_code_behind_wrappers() {
    assert_rejected(
        "a value would be code",
        &[
            "docker | run | img | sh | -c | echo {p}",
            "docker | run | --rm | -it | -v | /a:/b | img | bash | -lc | echo {p}",
            "docker | run | --entrypoint | sh | alpine | -c | echo {p}",
            "docker | run | --entrypoint=/bin/sh | alpine | -c | echo {p}",
            "docker | run | node:20 | -e | f({p})",
            "docker | exec | -i | {c} | sh | -c | echo {p}",
            "docker | compose | -f | x.yml | exec | web | su | -c | {p}",
            "podman | run | --rm | img | env | -S | sh -c {p}",
            "kubectl | exec | pod | -- | sh | -c | echo {p}",
            "kubectl | exec | -it | pod | -c | web | -- | /bin/bash | -c | echo {p}",
            "kubectl | exec | pod | sh | -c | echo {p}",
            "env | A=1 | sh | -c | echo {p}",
            "env | -S | sh -c {p}",
            "env | -i | -S | sh -c | {p}",
            "env | --split-string=sh -c {p}",
            "env | -vS | {p}",
            "timeout | 5 | /bin/bash | -c | echo {p}",
            "sudo | bash | -ce | echo {p}",
            "docker | exec | c | bash | -ceuo | pipefail | echo {p}",
            "mywrap | bash | -ceuo | pipefail | echo {p}",
            "timeout | -k | 1 | 5 | sh | -c | echo {p}",
            "nice | -n | 5 | sh | -c | {p}",
            "nohup | sh | -c | {p}",
            "setsid | sh | -c | {p}",
            "sudo | -u | bob | sh | -c | {p}",
            "sudo | -s | echo {p}",
            "sudo | -i | echo | {p}",
            "doas | -u | bob | sh | -c | {p}",
            "strace | -f | -o | log | sh | -c | {p}",
            "xargs | -n | 1 | sh | -c | {p}",
            "xargs | -I | X | env | sh | -c | {p}",
            "find | . | -name | *.txt | -exec | sh | -c | {p}",
            "find | . | -type | f | -okdir | timeout | 5 | sh | -c | echo {p}",
            "nsenter | -t | 1 | -m | sh | -c | {p}",
            "chroot | /srv | sh | -c | {p}",
            "systemd-run | --unit | x | sh | -c | {p}",
            "unshare | -r | sh | -c | {p}",
            "mywrap | --flag | bash | -c | echo {p}",
            "python3 | wrap.py | sh | -c | {p}",
            "sh | -c | exec \"$@\" | sh | bash | -c | {p}",
            "ssh-wrap | psql | -c | select {p}",
            "mywrap | sh -c {p}",
            "capsh | -- | -c | {p}",
            "sshpass | -p | x | ssh | host | ls {p}",
            "ld.so | /bin/sh | -c | {p}",
            "cmake | -E | env | {p}",
            "mywrap | --run=bash -lc 'echo {p}'",
            "xterm | -e | sh -c {p}",
            "watch | timeout | 5 | sh | -c | {p}",
            "script | -qec | sh -c {p}",
            "xargs | -I | X | sh | -c | X | {p}",
        ],
    );
}

/// Commands whose last element would be a part of a command string.
const COMMAND_STRINGS: &[&str] = &[
    "su | -c | echo {p}",
    "su | - | bob | -c | echo {p}",
    "su | bob | --command=echo {p}",
    "runuser | - | postgres | -c | {p}",
    "runuser | -l | bob | --session-command | {p}",
    "flock | f | -c | echo {p}",
    "flock | -n | f | --command | echo {p}",
    "script | -qec | echo {p}",
    "watch | ls {p}",
    "watch | -n | 5 | ls | {p}",
    "ssh | host | ls {p}",
    "ssh | -p | 22 | {host} | ls | -- | {p}",
    "ssh | -oBatchMode=yes | host | {p}",
    "ssh | -o | BatchMode=yes | host | {p}",
    "parallel | echo {p}",
    "make | X={p}",
    "make | -C | dir | {target}",
    "tmux | send-keys | {p}",
    "adb | shell | ls | {p}",
    "socat | - | {p}",
    "rsync | -e | ssh {p}",
    "tar | -I | {p}",
    "tar | -xf | a.tar | --to-command={p}",
    "git | -c | core.pager={p}",
    "git | -C | dir | -c | {p}",
    "git | fetch | --upload-pack={p}",
    "git | rebase | --exec | {p}",
    "git | submodule | foreach | echo {p}",
    "vim | -c | {p}",
    "vim | --cmd | {p}",
    "gdb | -ex | {p}",
    "psql | -d | shop | -c | select '{p}'",
    "psql | --command=select '{p}'",
    "mysql | -udave | -e | select '{p}'",
    "sqlite3 | shop.db | select '{p}'",
    "sqlite3 | -csv | shop.db | .mode json | {p}",
    "sqlite3 | -cmd | {p}",
    "mongosh | --eval | {p}",
    "npx | -c | {p}",
    "nix-shell | --run | {p}",
    "xterm | -e | {p}",
    "rg | --pre | {p}",
    "gcc | -wrapper | {p}",
    "gcc | -wrapper={p}",
    "systemd-run | -p | ExecStart={p}",
    "git | config | alias.x | {p}",
    "git | -C | dir | config | {p}",
    "git | clone | -c | {p}",
    "git | rebase | -x | {p}",
    "git | difftool | --extcmd={p}",
    "cmake | -D | X={p}",
    "make | SHELL={p}",
    "just | recipe | {p}",
    "npm | install | {p}",
    "pip | install | {p}",
    "python3 | -m | pip | install | {p}",
    "split | --filter={p}",
    "ansible | all | -a | {p}",
    "fzf | --preview | {p}",
    "fzf | --bind | {p}",
    "gh | alias | set | x | {p}",
    "mutt | -e | {p}",
    "cvs | -e | {p}",
    "pssh | -h | hosts | {p}",
    "clush | -w | x | {p}",
    "salt | * | cmd.run | {p}",
    "puppet | apply | -e | {p}",
    "chef-apply | -e | {p}",
    "knife | ssh | * | {p}",
    "heroku | run | {p}",
    "fly | ssh | console | -C | {p}",
    "i3-msg | {p}",
    "swaymsg | exec | {p}",
    "django-admin | shell | -c | {p}",
    "rails | runner | {p}",
    "wp | eval | {p}",
    "drush | php-eval | {p}",
    "mvn | -Dexec.args={p}",
    "gradle | {p}",
    "hive | -e | {p}",
    "spark-sql | -e | {p}",
    "snowsql | -q | {p}",
    "bq | query | {p}",
    "nix-shell | -p | {p}",
    "gpg | --photo-viewer | {p}",
    "dosbox | -c | {p}",
    "debugfs | -R | {p}",
    "bpftrace | -e | {p}",
    "msfconsole | -x | {p}",
    "pry | -e | {p}",
    "sbatch | --wrap={p}",
    "bsub | {p}",
    "byobu | {p}",
    "minikube | ssh | {p}",
    "consul | lock | k | {p}",
    "pueue | add | {p}",
    "zellij | run | -- | {p}",
    "etcdctl | lock | k | {p}",
    "aws | configure | set | credential_process | {p}",
    "systemctl | enable | {p}",
    "sysctl | {p}",
    "dotnet | fsi | {p}",
    "gh | extension | install | {p}",
    "opkg | install | {p}",
    "snap | run | {p}",
    "cargo | watch | -x | {p}",
    "watchman-make | --run | {p}",
    "code | --install-extension | {p}",
    "mywrap | --plugins={p}",
    "mywrap | exec | c | ls | {p}",
    "mywrap | --command | {p}",
    "mywrap | --ssh-command={p}",
    "mywrap | -exec | {p}",
    "./tool.sh | --pager={p}",
];

#[test]
fn a_value_is_never_a_part_of_a_command_string() {
    assert_rejected("a value would be code", COMMAND_STRINGS);
}

/// Commands whose last element would name a program.
const PROGRAM_NAMES: &[&str] = &[
    "timeout | 5 | {p}",
    "env | A=1 | {p}",
    "env | {p}",
    "nice | {p}",
    "sudo | -u | bob | {p}",
    "xargs | {p}",
    "busybox | {p}",
    "find | . | -exec | {p}",
    "docker | run | {p}",
    "docker | run | --rm | img | {p}",
    "docker | exec | c | {p}",
    "kubectl | exec | pod | -- | {p}",
    "nohup | timeout | 5 | bin/{p}",
    "npx | {p}",
    "git | {p}",
    "docker | {p}",
    "docker | compose | {p}",
    "uv | run | {p}",
    "uv | run | --with | x | {p}",
    "bundle | exec | {p}",
    "npm | run | {p}",
    "git | bisect | run | {p}",
    "python3 | -m | {p}",
    "xvfb-run | {p}",
    "pkexec | {p}",
    "sshpass | -p | x | {p}",
    "wine | {p}",
    "ld.so | {p}",
    "service | {p}",
    "rc-service | {p}",
    "srun | -n | 4 | {p}",
    "mpirun | -np | 4 | {p}",
    "systemd-cat | {p}",
    "flatpak-spawn | --host | {p}",
    "msgfilter | {p}",
    "tcpserver | 0 | 80 | {p}",
    "s6-setuidgid | bob | {p}",
    "pct | exec | 1 | -- | {p}",
    "limactl | shell | x | {p}",
    "multipass | exec | x | -- | {p}",
    "crictl | exec | id | {p}",
    "ctr | task | exec | --exec-id | x | id | {p}",
    "apptainer | exec | img | {p}",
    "rustup | run | stable | {p}",
    "nvm | exec | 18 | {p}",
    "direnv | exec | . | {p}",
    "volta | run | {p}",
    "kubectl | {p}",
    "npm | {p}",
    "go | {p}",
    "pip | {p}",
    "gh | {p}",
    "aws | conf{p}",
    "dotnet | {p}",
    "/lib64/ld-linux-x86-64.so.2 | {p}",
];

/// Commands whose last element would name a file with code.
const SCRIPT_NAMES: &[&str] = &[
    "sh | {p}",
    "bash | -x | {p}",
    "bash | --rcfile | {p}",
    "python3 | scripts/{p}.py",
    "node | {p}",
    "node | -r | {p}",
    "deno | {p}",
    "php | -f | {p}",
    "java | -jar | {p}",
    "awk | -f | {p}",
    "sed | --file={p}",
    "psql | -f | {p}",
    "ssh | -o | ProxyCommand={p}",
    "docker | run | --entrypoint | {p}",
    "timeout | 5 | sh | -- | {p}",
    "cmake | -P | {p}",
    "cmake | --build | {p}",
    "make | -C | {p}",
    "at | -f | {p}",
    "crontab | {p}",
    "crontab | -u | bob | {p}",
    "run-parts | {p}",
    "gnuplot | {p}",
    "ansible-playbook | {p}",
    "python3 | -m | cProfile | {p}",
    "php | -d | {p}",
    "node | --env-file={p}",
    "mosh | --ssh={p}",
    "gunicorn | {p}",
    "logrotate | {p}",
    "cpan | {p}",
    "erb | {p}",
    "torchrun | {p}",
    "sbatch | {p}",
    "cowsay | -f | {p}",
    "sshfs | -o | {p}",
    "docker | run | --env-file | {p}",
    "gradle | -b | {p}",
];

#[test]
fn a_value_never_names_the_program_or_its_script() {
    assert_rejected("a value would name the program", PROGRAM_NAMES);
    assert_rejected("a value would name the code", SCRIPT_NAMES);
    for command in ["vim | {p}", "less | -R | {p}", "ed | {p}", "gcc | -o | x | {p}", "convert | {p}"] {
        let argv: Vec<&str> = command.split(" | ").collect();
        assert!(faults(&argv)[0].contains("a value that begins with `"), "{command}: {:?}", faults(&argv));
    }
    assert_eq!(faults(&["{p}"]), ["/command/0: the program can't contain a variable; name it literally"]);
    assert_rejected(
        "a value would be loaded as code",
        &[
            "env | LD_PRELOAD={p}",
            "sudo | PATH=/x:{p}",
            "env | GIT_SSH_COMMAND={p}",
            "env | GIT_CONFIG_VALUE_0={p}",
            "docker | run | -e | BASH_ENV={p}",
            "docker | run | -eBASH_ENV={p}",
            "docker | run | --env=LD_PRELOAD={p}",
            "systemd-run | -E | LD_PRELOAD={p}",
            "systemd-run | --setenv=BASH_ENV={p}",
            "kubectl | set | env | deploy/x | NODE_OPTIONS={p}",
            "mywrap | LD_PRELOAD={p}",
        ],
    );
    assert_rejected(
        "a value would name the environment variable",
        &[
            "docker | run | -e | {p}",
            "docker | exec | --env={p}",
            "systemd-run | -E | {p}",
            "kubectl | run | --env={p}",
        ],
    );
}

/// Commands whose last element is data.
const DATA: &[&str] = &[
    "sh | -c | echo \"$1\" | sh | {p}",
    "sh | -c | pwd | -- | {p}",
    "bash | -euo | pipefail | -c | echo \"$1\" | x | {p}",
    "bash | -ceuo | pipefail | echo \"$1\" | x | {p}",
    "bash | -c | -o | errexit | echo \"$1\" | x | {p}",
    "python3 | -c | import sys; print(sys.argv[1]) | {p}",
    "python3 | -u | tool.py | {p}",
    "python3 | tool.py | -c | {p}",
    "python3 | tool.py | --name={p}",
    "python3 | -m | json.tool | {p}",
    "node | --no-warnings | cli.js | {p}",
    "node | cli.js | -e | {p}",
    "deno | run | -A | x.ts | {p}",
    "sh | script.sh | {p}",
    "bash | -e | deploy.sh | {p}",
    "powershell | -ExecutionPolicy | Bypass | -File | x.ps1 | {p}",
    "pwsh | x.ps1 | {p}",
    "java | -Xmx512m | -jar | a.jar | {p}",
    "head | -c | {p}",
    "grep | -e | {p}",
    "rg | --json | -- | {p}",
    "env | A={p} | grep | -c | x",
    "env | A=1 | grep | -c | {p}",
    "timeout | {seconds} | ls",
    "timeout | -k | 1 | 5 | grep | -e | {p}",
    "sudo | -u | {user} | ls | -s | {p}",
    "awk | {{print $1}} | {p}",
    "awk | -v | x={p} | {{print x}}",
    "sed | -n | -e | s/a/b/ | {p}",
    "docker | exec | {container} | ls | {p}",
    "docker | run | --rm | -v | {dir}:/x | -w | /x | img | ls | {p}",
    "docker | run | -it | -e | A={p} | img",
    "docker | logs | {container}",
    "kubectl | get | pod | {p}",
    "kubectl | exec | {pod} | -- | ls | {p}",
    "git | -C | {dir} | log | -- | {p}",
    "git | switch | -c | {p}",
    "git | log | --grep={p}",
    "find | {dir} | -name | {p}",
    "find | . | -exec | grep | -l | {p} | {{}} | ;",
    "xargs | -n | 1 | grep | -e | {p}",
    "ssh | -p | {port} | {host} | uptime",
    "psql | -v | name={p} | -f | query.sql",
    "sqlite3 | {file} | select 1",
    "rsync | -a | {from} | {to}",
    "tar | -xf | {p}",
    "vim | -es | -- | {p}",
    "go | test | {p}",
    "redis-cli | GET | {p}",
    "sh | -c | grep -e \"$1\" log.txt | head -n 5 | sh | {p}",
    "bash | -c | if grep -q \"$1\" f; then echo yes; else echo \"no ${{1}}\"; fi | x | {p}",
    "bash | -c | for x in \"$@\"; do wc -l \"$x\"; done | x | {p}",
    "sh | -c | X=\"$1\" ls >out 2>&1 # \"$2 | x | {p}",
    "sh | -c | find . -name \"$1\" | xargs grep x | x | {p}",
    "sh | -c | psql < query.sql; echo \"$1\" | x | {p}",
    "sh | -c | cd \"$1\" && ls && /usr/bin/du | x | {p}",
    "sh | -c | cd build && ./run \"$1\" | x | {p}",
    "perl | -e | print @ARGV | {p}",
    "vim | -es | ./{p}",
    "gcc | -c | src/{p}.c",
    "mywrap | --command-id | {p}",
    "git | commit | -m | run sh or bash: {p}",
    "git | clone | {p}",
    "uv | run | tool.py | {p}",
    "python3 | -m | http.server | {p}",
    "docker | container | ls | {p}",
    "docker | logs | {p}",
    "crontab | -l | -u | {p}",
    "less | -- | {p}",
    "jq | {p}",
    "gh | issue | view | {p}",
    "fzf | --filter | {p}",
    "python3 | manage.py | migrate | {p}",
    "gpg | --verify | {p}",
    "pytest | -k | {p}",
    "docker | run | --env=A={p} | img",
    "docker | run | --env | A={p} | img | ls",
    "systemd-run | --setenv=A={p} | ls",
    "env | X={p} | sh | -c | echo \"$X\"",
    "sh | -c | chmod +x run.sh; ./run.sh \"$1\" | x | {p}",
    "sh | -c | echo \"$1\" >out.txt; cat out.txt | x | {p}",
    "sh | -c | for cmd in \"$@\"; do ls \"$cmd\"; done | x | {p}",
    "sh | -c | /opt/tool <in.txt 2>err.txt \"$1\" | x | {p}",
    "aws | s3 | ls | {p}",
    "brew | info | {p}",
    "kubectl | run | {p} | --image=i",
    "systemctl | status | {p}",
    "dotnet | run | -- | {p}",
    "gh | api | {p}",
    "wc | {p}",
    "mywrap | run | {p}",
    "curl | -d | cmd={p} | https://a.example",
    "consul | kv | get | {p}",
    "multipass | info | {p}",
    "srun | -n | {n} | ls | {p}",
];

#[test]
fn data_stays_data() {
    for command in DATA {
        let argv: Vec<&str> = command.split(" | ").collect();
        let faults: Vec<String> =
            faults(&argv).into_iter().filter(|fault| !fault.contains("follows an option")).collect();
        assert_eq!(faults, [""; 0], "{command}");
    }
}

#[test]
fn no_interpreter_reads_the_arguments_of_a_call_as_its_code() {
    for argv in [
        &["sh"][..],
        &["bash", "-s", "x"],
        &["python3", "-"],
        &["timeout", "5", "sh"],
        &["docker", "exec", "-i", "c", "sh"],
        &["ssh", "host"],
        &["psql", "-d", "shop"],
        &["sqlite3", "shop.db"],
        &["xargs", "sh", "-c"],
        &["xargs", "-I", "X", "sh", "-c", "X"],
        &["parallel"],
        &["at", "now"],
        &["crontab", "-"],
        &["su", "bob"],
        &["sh", "-c", "sh"],
        &["bash", "-c", "cat x; exec ssh host"],
        &["env", "sh", "-c", "sh -c bash"],
        &["sudo", "-s"],
        &["sudo", "-u", "bob", "-i"],
        &["doas", "-s"],
        &["chroot", "/x"],
        &["unshare", "-r"],
        &["nsenter", "-t", "1", "-m"],
        &["runuser", "-l", "bob"],
        &["script", "-q", "out"],
        &["docker", "run", "-i", "bash"],
        &["docker", "run", "-i", "--rm", "python:3"],
        &["make", "-f", "-"],
        &["make", "-f-"],
        &["make", "--file=-"],
        &["bash", "/dev/fd/0"],
        &["python3", "/dev/stdin"],
        &["php", "-f", "/proc/self/fd/0"],
        &["psql", "-f", "-"],
        &["erb"],
        &["sbatch"],
        &["parallel", "echo"],
        &["pwsh", "-Command", "-"],
        &["pwsh"],
    ] {
        let faults = faults(argv);
        assert!(
            faults.len() == 1
                && faults[0].starts_with("/command: ")
                && faults[0].contains("would read the call's arguments on stdin as its code; name a script"),
            "{argv:?}: {faults:?}"
        );
        let silent = CommandTool::new(argv.iter().copied()).stdin(StdinFormat::None);
        assert!(silent.build(Tool::dynamic("run").params_json(json!({"type": "object"}))).is_ok(), "{argv:?}");
    }
    for argv in [
        &["sh", "tool.sh"][..],
        &["python3", "--version"],
        &["node", "-e", "read()"],
        &["make"],
        &["git", "status"],
        &["env"],
        &["sudo", "ls"],
        &["docker", "run", "-i", "img"],
        &["cmake", "--build", "build"],
        &["cmake", "-S", ".", "-B", "build"],
        &["sh", "-c", "cat query.sql | psql shop"],
        &["sh", "-c", "psql shop <query.sql"],
        &["jq", "."],
    ] {
        assert_eq!(faults(argv), [""; 0], "{argv:?}");
    }
}

/// Builds a tool whose parameter `p` accepts anything, and calls it.
fn call_with(argv: &[&str], value: &serde_json::Value) -> String {
    let command = CommandTool::new(argv.iter().copied());
    let schema = json!({"type": "object", "properties": {"p": {}, "q": {}}, "required": ["p", "q"]});
    let tool = command.build(Tool::dynamic("run").params_json(schema)).unwrap();
    let kit: Toolkit = Toolkit::new().with(tool).unwrap();
    let call = ToolCall::new("c1", "run", json!({"p": value, "q": "x"}).to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(kit.run_call(&call)).to_model_text()
}

#[test]
fn no_number_of_values_moves_a_program_or_its_code() {
    for argv in [
        &["timeout", "{p}", "ls", "{q}"][..],
        &["docker", "exec", "{p}", "ls", "{q}"],
        &["docker", "exec", "c-{p}", "ls", "{q}"],
        &["awk", "-v", "{p}", "{{print}}", "{q}"],
        &["bash", "-o", "{p}", "tool.sh", "{q}"],
        &["git", "-C", "{p}", "log", "{q}"],
    ] {
        for value in [json!(["5", "touch", "hacked"]), json!([]), json!(null)] {
            let text = call_with(argv, &value);
            let is_rejected = text.contains("requires exactly one value")
                || text.contains("must be text")
                || text.contains("as an option precedes it");
            assert!(is_rejected, "{argv:?} {value}: {text}");
        }
        let optional = CommandTool::new(argv.iter().copied());
        let schema = json!({"type": "object", "properties": {"p": {}, "q": {}}, "required": ["q"]});
        let error = optional.build(Tool::dynamic("run").params_json(schema)).unwrap_err();
        assert!(error.to_string().contains("`{p}` "), "{argv:?}: {error}");
    }
    // Where nothing behind depends on it, there may be any number.
    let text = call_with(&["printf", "%s.", "{p}", "{q}"], &json!(["a", "b"]));
    assert_eq!(text, "a.b.x.");
}

#[test]
fn what_follows_the_script_of_a_shell_has_no_end_of_options() {
    let argv = ["sh", "-c", "printf \"$1\"", "--", "{p}", "{q}"];
    assert!(call_with(&argv, &json!("-v")).contains("must not begin with `-`"));
    assert_eq!(call_with(&argv, &json!("a")), "a");
}

#[test]
fn the_end_of_a_wrappers_options_is_not_that_of_the_program() {
    let is_accepted = |argv: &[&str], value: &str| {
        let command = CommandTool::new(argv.iter().copied());
        let builder = Tool::dynamic("run").params_json(command.default_parameters());
        let tool = command.build(builder).unwrap();
        let kit: Toolkit = Toolkit::new().with(tool).unwrap();
        let call = ToolCall::new("c1", "run", json!({"p": value}).to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        !runtime.block_on(kit.run_call(&call)).to_model_text().contains("must not begin")
    };
    assert!(!is_accepted(&["kubectl", "exec", "pod", "--", "git", "log", "{p}"], "--output=x"));
    assert!(!is_accepted(&["env", "--", "printf", "{p}"], "-v"));
    assert!(is_accepted(&["env", "--", "printf", "--", "%s", "{p}"], "-v"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_hostile_value_behind_a_fixed_script_is_printed_and_not_run() {
    let folder = tempfile::tempdir().unwrap();
    for script in [
        "printf '%s' \"$1\"",
        "for x in \"$@\"; do printf '%s' \"$x\"; done",
        "if true; then printf '%s' \"${{1}}\"; else false; fi",
        "A=\"$1\"; printf '%s' \"$A\"",
        "A=\"$1\" printenv A",
        "printf '%s' \"$1\" | cat; ls \"$1\" >/dev/null 2>&1 || true",
    ] {
        let command = CommandTool::new(["env", "sh", "-c", script, "sh", "{p}"]).folder(folder.path());
        let builder = Tool::dynamic("run").params_json(command.default_parameters());
        let kit: Toolkit = Toolkit::new().with(command.build(builder).unwrap()).unwrap();
        for value in [
            "$(touch hacked)",
            "`touch hacked`",
            "\"; touch hacked; \"",
            "'; touch hacked; '",
            "x\ntouch hacked",
            "$0",
            "a[$(touch hacked)]",
            "; touch hacked #",
        ] {
            let call = ToolCall::new("c1", "run", json!({"p": value}).to_string());
            assert_eq!(kit.run_call(&call).await.to_model_text(), value, "{script}");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{script}: {value}");
        }
    }
}
