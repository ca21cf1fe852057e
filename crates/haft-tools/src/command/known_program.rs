//! The programs that are known to read arguments as code, or to start another program, as data.
//!
//! All knowledge of [`interpreter`](super::interpreter) is in these rows; its code knows no program by name. A row that
//! is too strict rejects a command that its author can write in another way; a row that is missing or too lax lets a
//! model write code. So a row lists every option that takes code, and in doubt a text counts as code.

/// A program, by its names, and the meaning of its arguments. Each list of options is one text, separated by spaces; an
/// option of one letter may be combined with others, as in `-lc`.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownProgram {
    /// Its names, without folders, versions and `.exe`.
    pub(super) names: &'static str,
    pub(super) operands: OperandRule,
    pub(super) style: OptionStyle,
    /// Options whose value is code.
    pub(super) code: &'static str,
    /// Options after which everything is code.
    pub(super) rest: &'static str,
    /// Options whose value names the script.
    pub(super) file: &'static str,
    /// Options whose value names code that is loaded besides the script.
    pub(super) load: &'static str,
    /// Options that the name of a program follows.
    pub(super) starts: &'static str,
    /// Other options whose value is an argument of its own. Unlisted options have none.
    pub(super) valued: &'static str,
    /// Arguments by which the script is read from stdin.
    pub(super) stdin: &'static str,
}

/// The meaning of the arguments that are not options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandRule {
    /// All are data.
    Data,
    /// All are data. Without code or a file, the code is read from stdin.
    DataOrStdin,
    /// The first is a word of the program's own, and options of one letter have another meaning after it.
    Subcommand,
    /// The first names a file with code, unless an option did; all others are data. Without any, the code is read from stdin.
    Script,
    /// The first is code, unless an option contained it; all others are data.
    Code,
    /// All but the first ones, so many, are code. Without any, the code is read from stdin.
    CodeAfter(usize),
    /// A program and its arguments follow so many others.
    ProgramAfter(usize),
    /// A program and its arguments follow an argument `--`.
    ProgramAfterDashes,
    /// After `run`, `create` or `exec`: an image or a container, then a program and its arguments. The options in
    /// `valued` are those that have *no* value.
    Container,
}

/// The form of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionStyle {
    /// `-c`, `-lc`, `--command`, `--command=x`.
    Unix,
    /// The same, except that no letter has its value in its own argument: `-cx`, `-euo pipefail`.
    Letters,
    /// `-Command`, `-comm` and `/command`, in any case.
    PowerShell,
    /// `/c`, `/s/c`, in any case.
    Cmd,
}

impl OptionStyle {
    /// Reports whether a text is an option by its form.
    pub(super) fn is_option(self, text: &str) -> bool {
        match self {
            Self::Unix | Self::Letters => text.len() > 1 && text.starts_with(['-', '+']),
            Self::PowerShell => text.len() > 1 && text.starts_with(['-', '/']) && !text[1..].contains('/'),
            Self::Cmd => text.starts_with('/'),
        }
    }
}

const fn program(names: &'static str, operands: OperandRule) -> KnownProgram {
    KnownProgram {
        names,
        operands,
        style: OptionStyle::Unix,
        code: "",
        rest: "",
        file: "",
        load: "",
        starts: "",
        valued: "",
        stdin: "",
    }
}

/// Creates a row for an interpreter with a script of its own: options with code, and options with a value.
const fn interpreter(names: &'static str, code: &'static str, valued: &'static str) -> KnownProgram {
    KnownProgram { code, valued, stdin: "-", ..program(names, OperandRule::Script) }
}

/// Creates a row for a program that starts the one its arguments name: options with a value.
const fn wrapper(names: &'static str, before: usize, valued: &'static str) -> KnownProgram {
    KnownProgram { valued, ..program(names, OperandRule::ProgramAfter(before)) }
}

/// Creates a row for a program whose first operand is code: options with code, and options with a value.
const fn editor(names: &'static str, code: &'static str, valued: &'static str) -> KnownProgram {
    KnownProgram { code, valued, ..program(names, OperandRule::Code) }
}

/// Creates a row for a program whose operands are data: options with code.
const fn options(names: &'static str, code: &'static str) -> KnownProgram {
    KnownProgram { code, ..program(names, OperandRule::Data) }
}

/// Creates a row for a program that gives its operands, but the first ones, to a shell.
const fn shell_line(names: &'static str, before: usize, valued: &'static str) -> KnownProgram {
    KnownProgram { valued, ..program(names, OperandRule::CodeAfter(before)) }
}

/// Creates a row for a program that reads code from stdin if no option has it: options with code, with a file of code, and
/// with other values.
const fn reader(names: &'static str, code: &'static str, file: &'static str, valued: &'static str) -> KnownProgram {
    KnownProgram { code, file, valued, ..program(names, OperandRule::DataOrStdin) }
}

/// The programs. The first row with the name counts.
const PROGRAMS: &[KnownProgram] = &[
    // Shells.
    KnownProgram {
        style: OptionStyle::Letters,
        load: "--rcfile --init-file",
        stdin: "- -s",
        ..interpreter(
            "sh ash bash csh dash elvish hush ksh lksh mksh oksh osh pdksh posh rbash rc rksh rzsh tcsh yash ysh zsh",
            "-c",
            "-o +o -O +O",
        )
    },
    interpreter("fish", "-c -C --command --init-command", "-d -f -o --debug --features --profile"),
    interpreter("nu", "-c -e --commands --execute", "-m --config --env-config --log-level"),
    interpreter("xonsh", "-c", "-D --rc --shell-type"),
    KnownProgram { style: OptionStyle::Cmd, rest: "/c /k /r", ..program("cmd", OperandRule::CodeAfter(0)) },
    KnownProgram {
        style: OptionStyle::PowerShell,
        rest: "-command -encodedcommand -ec -commandwithargs -cwa",
        file: "-file",
        valued: "-executionpolicy -ep -version -workingdirectory -wd -windowstyle -configurationname -outputformat",
        ..program("powershell", OperandRule::CodeAfter(0))
    },
    KnownProgram {
        style: OptionStyle::PowerShell,
        rest: "-command -encodedcommand -ec -commandwithargs -cwa",
        file: "-file",
        valued: "-executionpolicy -ep -version -workingdirectory -wd -windowstyle -configurationname -outputformat",
        ..program("pwsh", OperandRule::Script)
    },
    // Languages.
    interpreter("python pythonw pypy ipython micropython", "-c -m", "-W -X --check-hash-based-pycs"),
    // With `-n` and `-p`, perl opens its operands by a function that starts programs.
    KnownProgram { style: OptionStyle::Letters, load: "-M -m -I", rest: "-n -p", ..interpreter("perl", "-e -E", "-F") },
    interpreter("raku perl6", "-e", "-I -M"),
    KnownProgram { load: "-r -I --require", ..interpreter("ruby jruby truffleruby mruby", "-e", "-C -E -K -T") },
    KnownProgram {
        load: "-r --require --import --loader --experimental-loader",
        ..interpreter("node nodejs tsx ts-node", "-e -p -pe --eval --print", "-C --conditions --env-file")
    },
    interpreter("deno", "eval run test bench serve compile -e --eval", "--config -c"),
    KnownProgram {
        load: "-r --preload --require --import",
        ..interpreter("bun", "run exec test -e -p --eval --print", "--cwd -c --config")
    },
    KnownProgram { file: "-f --file", ..interpreter("php php-cgi", "-r -B -R -E -F --run", "-d -c -z -t -S") },
    KnownProgram { load: "-l", ..interpreter("lua luajit luau", "-e", "") },
    interpreter("tclsh wish jimsh", "", ""),
    KnownProgram { file: "-f", ..interpreter("expect", "-c", "") },
    interpreter("osascript", "-e", "-l -s"),
    interpreter("rscript r littler", "-e -f --file", ""),
    interpreter("julia", "-e -E --eval --print", "-L --load --project -t --threads -p"),
    interpreter("elixir iex", "-e --eval --rpc-eval -S", "-r -pr -pa --require"),
    interpreter("erl escript", "-eval -run -s", "-pa -pz -sname -name"),
    interpreter("groovy scala kotlin kotlinc clojure clj bb jshell", "-e -i --eval", "-cp -classpath -M -A"),
    interpreter("guile racket sbcl clisp ecl gosh csi", "-c -e -x --eval --load -l", ""),
    interpreter("ghc runghc runhaskell ocaml swift crystal", "-e eval run", ""),
    interpreter("octave matlab sage maxima", "-r -batch -c --eval --batch-string", ""),
    interpreter("bc dc", "-e -f --expression --file", ""),
    program("m4 gm4", OperandRule::Script),
    options("go", "run generate -exec -toolexec -overlay"),
    KnownProgram {
        file: "-jar --module",
        ..interpreter("java javaw", "", "-cp -classpath --class-path --module-path")
    },
    KnownProgram {
        file: "-f --file -E --exec",
        ..editor("awk gawk mawk nawk original-awk goawk", "-e -i -l", "-F -v")
    },
    KnownProgram { file: "-f --file", ..editor("sed gsed ssed", "-e --expression", "-l --line-length") },
    // Programs that give text to a shell.
    reader("su sg newgrp", "-c -C --command --session-command -s --shell", "", "-g -G -w --group --supp-group"),
    KnownProgram {
        code: "-c --command --session-command",
        load: "-s --shell",
        valued: "-u -g -G -w --user --group --supp-group",
        ..program("runuser", OperandRule::ProgramAfterDashes)
    },
    KnownProgram { code: "-c --command", ..wrapper("flock", 1, "-w -E --timeout --wait --conflict-exit-code") },
    options("script", "-c --command"),
    KnownProgram { rest: "-S --split-string", ..wrapper("env", 0, "-u -C --unset --chdir") },
    KnownProgram {
        rest: "-s -i --shell --login -e --edit",
        ..wrapper(
            "sudo",
            0,
            "-u -g -h -p -C -T -R -D -U -r -t --user --group --host --prompt --close-from --chroot --chdir --role --type",
        )
    },
    KnownProgram { rest: "-s", ..wrapper("doas", 0, "-u -C") },
    shell_line("watch viddy", 0, "-n --interval"),
    shell_line("parallel sem", 0, "-j --jobs -a --arg-file --colsep --delay --joblog --results"),
    shell_line("hyperfine concurrently watchexec nodemon tmux screen socat", 0, "-n --name -e -w --watch"),
    KnownProgram {
        load: "-o -F",
        ..shell_line("ssh slogin autossh", 1, "-p -l -i -J -L -R -D -b -c -e -E -I -m -M -O -Q -S -w -W -B -P")
    },
    KnownProgram { load: "-F -S -D", ..options("scp sftp", "-o") },
    shell_line("mosh rsh remsh", 1, "-p --ssh -l"),
    KnownProgram { valued: "-f -p -w", ..shell_line("sshpass", 1, "") },
    KnownProgram { rest: "shell exec-out", valued: "-s -t -H -P", ..program("adb", OperandRule::Data) },
    options("vagrant gcloud", "-c --command"),
    options("ansible", "-a --args"),
    options("nc ncat netcat", "-c -e --sh-exec --exec --lua-exec"),
    options("rsync", "-e --rsh --rsync-path"),
    options(
        "tar gtar bsdtar",
        "-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command \
         --rmt-command",
    ),
    options("zip", "-TT --unzip-command"),
    // A value of `make` is expanded before its recipe uses it, and an argument `X=…` is such a value.
    KnownProgram {
        code: "--eval -E",
        load: "-f --file --makefile",
        ..shell_line("make gmake bmake remake", 0, "-C -j -l -o -W")
    },
    KnownProgram {
        code: "-c --config-env --exec-path --upload-pack --receive-pack --exec --extcmd --config \
               --env-filter --tree-filter --index-filter --msg-filter --commit-filter --parent-filter",
        rest: "foreach",
        starts: "run",
        valued: "-C --git-dir --work-tree --namespace --super-prefix",
        ..program("git", OperandRule::Subcommand)
    },
    options("hg", "--config"),
    options(
        "gdb lldb cgdb",
        "-ex -iex -x -o -O -s --eval-command --init-eval-command --command --init-command --one-line",
    ),
    KnownProgram { load: "-S -u", ..options("vim vi nvim ex view gvim vimdiff", "-c --cmd") },
    options("emacs emacsclient", "-e -l -f --eval --execute --load --funcall"),
    options("nix nix-shell nix-build nix-instantiate nix-env", "-E -c --expr --run --command --apply"),
    // Database clients.
    reader("psql pgcli", "-c --command", "-f --file", "-h -p -U -d -o -v -F -R -P -T"),
    reader("mysql mariadb mycli", "-e --execute --init-command", "", "-u -h -P -D -S"),
    reader("mongosh mongo", "--eval", "-f --file", "--host --port -u -p"),
    reader(
        "clickhouse clickhouse-client clickhouse-local cqlsh",
        "-q -e --query --execute",
        "-f",
        "-h -u --host --port",
    ),
    reader("sqlcmd sqlplus isql osql", "-Q -q", "-i", "-S -U -P -d"),
    options("redis-cli valkey-cli", "--eval eval EVAL script SCRIPT fcall FCALL"),
    KnownProgram {
        code: "-cmd --cmd -c",
        load: "-init --init -f",
        valued: "-separator -nullvalue -newline",
        ..program("sqlite sqlite3 sqlcipher duckdb", OperandRule::CodeAfter(1))
    },
    // Programs that start another one.
    wrapper("nice", 0, "-n --adjustment"),
    wrapper("nohup setsid busybox toybox tini dumb-init catatonit linux32 linux64 setarch torsocks proxychains", 0, ""),
    wrapper("timeout gtimeout", 1, "-s -k --signal --kill-after"),
    wrapper("stdbuf time gtime", 0, "-i -o -e -f --input --output --error --format"),
    wrapper("ionice", 0, "-c -n -p -P -u --class --classdata"),
    wrapper("chroot taskset chrt faketime", 1, "-T -P -D"),
    wrapper("unshare setpriv", 0, "-S -G -R -w --setuid --setgid --reuid --regid"),
    wrapper("nsenter", 0, "-t -S -G --target --setuid --setgid"),
    wrapper(
        "systemd-run systemd-inhibit",
        0,
        "-p -u -M -H -E --property --unit --machine --host --slice --description --setenv --uid --gid --nice",
    ),
    wrapper("strace ltrace", 0, "-a -b -e -E -I -l -n -o -O -p -P -s -S -u -U -X --trace --output"),
    wrapper("xargs gxargs", 0, "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace"),
    KnownProgram { code: "-s", ..wrapper("entr", 0, "") },
    KnownProgram { code: "-c --call", ..wrapper("npx bunx pnpx uvx", 0, "-p --package --from --with --python") },
    KnownProgram { starts: "-exec -execdir -ok -okdir", ..program("find gfind", OperandRule::Data) },
    KnownProgram { starts: "-x -X --exec --exec-batch", ..program("fd fdfind", OperandRule::Data) },
    program(
        "kubectl oc k3s microk8s lxc incus uv poetry pipx pipenv bundle rbenv npm pnpm yarn flatpak distrobox toolbox machinectl \
         systemd-nspawn direnv mise asdf cross wsl",
        OperandRule::ProgramAfterDashes,
    ),
    KnownProgram {
        load: "--entrypoint",
        valued: "-d -i -t -q -P -T -D --debug --tls --tlsverify --detach --interactive --tty --rm --init --privileged --read-only --quiet \
                 --publish-all --no-healthcheck --oom-kill-disable --sig-proxy --no-deps --build --service-ports \
                 --use-aliases --no-TTY --remove-orphans",
        ..program("docker podman nerdctl docker-compose podman-compose", OperandRule::Container)
    },
];

/// Environment variables whose value is code, or names code that another program loads.
pub(super) const CODE_VARIABLES: &str = "BASH_ENV EDITOR ENV GCONV_PATH GIT_ASKPASS GIT_CONFIG_PARAMETERS \
    GIT_EDITOR GIT_EXTERNAL_DIFF GIT_PAGER GIT_SSH GIT_SSH_COMMAND JAVA_TOOL_OPTIONS LD_AUDIT LD_LIBRARY_PATH LD_PRELOAD \
    DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH LESSOPEN LUA_INIT MAKEFLAGS NODE_OPTIONS NODE_PATH PAGER PATH PERL5DB PERL5LIB \
    PERL5OPT PROMPT_COMMAND PS4 PYTHONHOME PYTHONPATH PYTHONSTARTUP RUBYLIB RUBYOPT SHELL SSH_ASKPASS VISUAL ZDOTDIR";

/// Finds a program by the text that starts it: a name, a path or an image such as `node:20`.
pub(super) fn known(text: &str) -> Option<&'static KnownProgram> {
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = name.split([':', '@']).next().unwrap_or_default();
    let name = [".exe", ".cmd", ".bat", ".com"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let unversioned = name.trim_end_matches(|last: char| last.is_ascii_digit() || matches!(last, '.' | '-'));
    let of = |name: &str| PROGRAMS.iter().find(|program| has_word(program.names, name));
    of(name).or_else(|| of(unversioned))
}

/// Reports whether a list has a word.
pub(super) fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}
