//! The programs that are known to read arguments as code, or to start another program, as data.

use super::row::{
    editor, interpreter, marked, options, options_of_subcommand, program, reader, runner, shell, shell_line, wrapper,
};
use super::{AfterCode, KnownProgram, OperandRule, OptionStyle};

/// The programs.
pub(super) const PROGRAMS: &[KnownProgram] = &[
    // Shells.
    KnownProgram {
        style: OptionStyle::Letters,
        stdin: "- -s",
        after_code: AfterCode::Parameters,
        ..interpreter("sh ash bash dash hush posh rbash yash", "-c", "--rcfile --init-file", "-o +o -O +O")
    },
    // The Korn shell's evaluate operands as arithmetic, in `printf %d` too.
    KnownProgram {
        style: OptionStyle::Letters,
        stdin: "- -s",
        ..shell("ksh lksh mksh oksh pdksh rksh zsh rzsh csh tcsh elvish osh rc sash ysh", "-c", "-o +o -O +O")
    },
    shell("fish", "-c -C --command --init-command", "-d -f -o --debug --features --profile"),
    shell("nu", "-c -e --commands --execute", "-m --config --env-config --log-level"),
    shell("xonsh", "-c", "-D --rc --shell-type"),
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
        stdin: "-",
        ..program("pwsh", OperandRule::Script)
    },
    // Languages. A module named by `python -m` is a program with its own arguments.
    KnownProgram {
        starts: "-m",
        ..interpreter("python pythonw pypy ipython micropython", "-c", "-W -X", "--check-hash-based-pycs")
    },
    editor("timeit", "-s --setup -n --number -r --repeat -u --unit", ""),
    interpreter("pdb ipdb pudb bpdb", "-c", "", ""),
    interpreter("erb erubi ejs pry byebug bpython", "-e -x --exec --eval", "-r -I --require", "-T -P"),
    interpreter("bpftrace stap dtrace execlineb", "-e -n -c", "-I", "-p"),
    interpreter("torchrun deepspeed sbatch qsub", "--wrap", "", "-n -N -p -t -J -o -e --nproc_per_node --nnodes"),
    KnownProgram { rest: "fsi script tool exec", ..options_of_subcommand("dotnet", "--additionalprobingpath") },
    interpreter("cprofile profile trace runpy coverage pyinstrument scalene", "run", "-m", "-o -s"),
    // With `-n` and `-p`, perl opens its operands with a function that starts programs.
    KnownProgram { style: OptionStyle::Letters, rest: "-n -p", ..interpreter("perl", "-e -E -F", "-M -m -I", "") },
    interpreter("raku perl6", "-e", "-I -M", ""),
    interpreter("ruby jruby truffleruby mruby irb", "-e -F", "-r -I --require", "-C -E -K -T"),
    interpreter(
        "node nodejs tsx ts-node",
        "-e -p -pe --eval --print --run",
        "-r --require --import --loader --experimental-loader --env-file --env-file-if-exists",
        "-C --conditions",
    ),
    interpreter(
        "deno",
        "eval run test bench serve compile task install jupyter x -e --eval",
        "--config -c --import-map",
        "",
    ),
    interpreter(
        "bun",
        "run exec test x install add create -e -p --eval --print",
        "-r --preload --require --import -c --config",
        "--cwd",
    ),
    KnownProgram {
        file: "-f --file",
        ..interpreter("php php-cgi php-fpm", "-r -B -R -E -F --run", "-d -c -z -t -S --define --php-ini", "")
    },
    interpreter("lua luajit luau", "-e", "-l", ""),
    interpreter("tclsh wish jimsh", "", "", ""),
    KnownProgram { file: "-f", ..interpreter("expect", "-c", "", "") },
    interpreter("osascript", "-e", "-l", "-s"),
    interpreter("rscript r littler", "-e -f --file", "", ""),
    interpreter("julia", "-e -E --eval --print", "-L --load --project", "-t --threads -p"),
    interpreter("elixir iex mix", "-e --eval --rpc-eval -S run", "-r -pr -pa --require", ""),
    interpreter("erl escript", "-eval -run -s", "-pa -pz", "-sname -name"),
    interpreter(
        "groovy scala kotlin kotlinc clojure clj bb jshell jrunscript",
        "-e -i -f --eval",
        "-cp -classpath -M -A",
        "",
    ),
    interpreter("guile racket sbcl clisp ccl ecl gosh csi scsh slsh kak gnuplot", "-c -e -x --eval", "--load -l", ""),
    interpreter("ghc ghci runghc runhaskell ocaml swift crystal nim zig dart", "-e eval run e r", "", ""),
    interpreter("swipl gprolog", "-g -t --goal --query-goal --entry-goal", "-l -f -s --consult-file", ""),
    interpreter("octave matlab sage maxima", "-r -batch -c --eval --batch-string", "", ""),
    interpreter("bc dc", "-e -f --expression --file", "", ""),
    interpreter("m4 gm4", "-D --define", "", ""),
    interpreter("gs ghostscript", "-c", "-I", "-o"),
    KnownProgram { rest: "run generate install get", ..options("go", "-exec -toolexec -overlay") },
    KnownProgram {
        file: "-jar --module -m",
        ..interpreter(
            "java javaw",
            "-XX:OnError -XX:OnOutOfMemoryError",
            "-cp -classpath -p --class-path --module-path -agentpath -javaagent --source",
            "",
        )
    },
    KnownProgram {
        file: "-f --file -E --exec",
        ..editor("awk gawk mawk nawk original-awk goawk", "-e -i -l", "-F -v")
    },
    KnownProgram { file: "-f --file", ..editor("sed gsed ssed", "-e --expression", "-l --line-length") },
    // Programs that give text to a shell.
    KnownProgram {
        code: "-c -C --command --session-command",
        load: "-s --shell",
        after_code: AfterCode::Parameters,
        ..shell_line("su sg", 1, "-g -G -w --group --supp-group --whitelist-environment")
    },
    KnownProgram {
        code: "-c --command --session-command",
        load: "-s --shell",
        starts_shell: true,
        targets: "-u --user",
        valued: "-g -G -w --group --supp-group",
        after_code: AfterCode::Parameters,
        ..program("runuser", OperandRule::ProgramAfterDashes)
    },
    KnownProgram {
        code: "-c --command",
        ..wrapper(
            "flock",
            1,
            "-w -E --timeout --wait --conflict-exit-code",
            "-s -x -e -n -u -o -F -v --shared --exclusive --nonblock --nb --unlock --close --no-fork --verbose",
        )
    },
    KnownProgram { rest: "--", starts_shell: true, ..options("script scriptlive capsh", "-c --command") },
    KnownProgram { starts_shell: true, ..options("newgrp login", "") },
    KnownProgram {
        rest: "-S --split-string",
        ..wrapper("env", 0, "-u -C --unset --chdir", "-i -0 -v --ignore-environment --null --debug")
    },
    KnownProgram {
        rest: "-s -i --shell --login -e --edit",
        ..wrapper(
            "sudo",
            0,
            "-u -g -h -p -C -T -R -D -U -r -t --user --group --host --prompt --close-from --chroot --chdir --role --type",
            "-A -b -E -H -K -k -n -P -S -v --askpass --background --preserve-env --set-home --non-interactive --stdin \
             --preserve-groups --reset-timestamp",
        )
    },
    KnownProgram { rest: "-s", ..wrapper("doas", 0, "-u -C", "-n -L") },
    KnownProgram { load: "--shell", ..shell_line("watch viddy", 0, "-n --interval") },
    KnownProgram {
        stdin: "-",
        appends_stdin: true,
        ..shell_line("parallel sem rush", 0, "-j --jobs -a --arg-file --colsep --delay --joblog --results")
    },
    shell_line(
        "hyperfine concurrently watchexec nodemon reflex tmux tmate byobu screen socat mispipe pee bsub",
        0,
        "-n --name -e -w --watch",
    ),
    KnownProgram {
        load: "-o -F -I",
        ..shell_line("ssh slogin autossh", 1, "-p -l -i -J -L -R -D -b -c -e -E -m -M -O -Q -S -w -W -B -P")
    },
    KnownProgram { load: "-F -S -D -b", ..options("scp sftp", "-o") },
    KnownProgram { load: "--ssh --server", ..shell_line("mosh rsh remsh rlogin", 1, "-p -l") },
    shell_line("pssh parallel-ssh clush pdsh salt salt-call salt-ssh", 0, "-h -H -w -x -l -g --hosts"),
    shell_line("i3-msg swaymsg bspc hyprctl", 0, "-t -s"),
    options("ssh-keygen", "-D"),
    options("ssh-add", "-s -S"),
    KnownProgram { rest: "shell exec-out", valued: "-s -t -H -P", ..program("adb", OperandRule::Data) },
    KnownProgram { rest: "run ssh exec alias extension query", ..options("heroku knife gh bq", "-C") },
    KnownProgram { rest: "configure ssm", ..options("aws", "") },
    KnownProgram {
        rest: "ssh exec lock watch monitor add run action",
        ..options("minikube colima consul pueue zellij", "")
    },
    KnownProgram { rest: "lock elect watch exec-watch", ..options("etcdctl", "") },
    KnownProgram { rest: "launch", ..options("accelerate", "") },
    KnownProgram {
        rest: "enable reenable link preset mask edit set-environment import-environment set-property",
        ..options("systemctl", "")
    },
    KnownProgram { rest: "run", ..options("bazel bazelisk", "--run_under") },
    options("puppet chef-apply pidstat ksu", "-e --execute"),
    options("dosbox enscript watchman-make msfconsole debugfs", "-c -I -r -x -R --run"),
    options("code codium cursor", "--install-extension"),
    KnownProgram { load: "-f -o", ..options("cowsay cowthink sshfs", "") },
    editor("sysctl", "-w --write", ""),
    options("vagrant gcloud fly flyctl", "-c -C --command"),
    interpreter(
        "ansible-playbook ansible-console",
        "-e --extra-vars --ssh-common-args --ssh-extra-args",
        "-i --inventory -M --module-path",
        "-l -t -u --limit --tags --user --forks -f",
    ),
    KnownProgram { load: "-m -i -M", ..options("ansible", "-a -e --args --extra-vars") },
    KnownProgram { stdin: "-", valued: "-u", ..program("crontab fcrontab", OperandRule::Script) },
    reader("at batch", "", "-f", "-q -t"),
    program("run-parts run-mailcap logrotate cpan cpanm", OperandRule::Script),
    shell_line("just task rake gulp grunt invoke fab doit earthly", 0, "-f -d -C"),
    KnownProgram {
        code: "-D -P",
        load: "-f -b -I --init-script --build-file --settings",
        ..shell_line("gradle gradlew mvn mvnw ant sbt msbuild nox tox", 0, "-e -c")
    },
    KnownProgram {
        rest: "-e -x --command -c start",
        valued: "-T -title --title",
        ..program(
            "xterm uxterm rxvt urxvt konsole gnome-terminal kitty alacritty foot terminator st xfce4-terminal \
             lxterminal mate-terminal qterminal tilix wezterm ghostty",
            OperandRule::CodeAfter(0),
        )
    },
    options("nc ncat netcat", "-c -e --sh-exec --exec --lua-exec"),
    options("rsync", "-e -M --rsh --rsync-path --remote-option"),
    options(
        "tar gtar bsdtar",
        "-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command \
         --rmt-command",
    ),
    options("cpio", "-F --rsh-command"),
    options("zip", "-TT --unzip-command"),
    options("split gsplit", "--filter"),
    options("sort gsort", "--compress-program"),
    options("rg ripgrep", "--pre --hostname-bin"),
    options("fzf sk", "--preview --bind --execute"),
    options("ag ack", "--pager"),
    options("bat batcat delta", "--pager"),
    options("man", "-P -H --pager --html"),
    options("mail mailx s-nail mutt neomutt cvs", "-S -~ -e -F"),
    options("sendmail supervisord gpg gpg2 iftop", "-C -c --photo-viewer --exec-path --agent-program"),
    options("curl", "-K --config --engine"),
    options("wget", "-e --execute --use-askpass --config"),
    options(
        "aria2c",
        "--on-download-complete --on-download-error --on-download-start --on-bt-download-complete --conf-path",
    ),
    options("yt-dlp youtube-dl", "--exec --downloader --external-downloader --config-locations --plugin-dirs"),
    options("lftp smbclient", "-c -e -f"),
    options("tcpdump", "-z"),
    options("tshark wireshark", "-X"),
    options("nmap", "--script --datadir"),
    options("openssl", "-engine -provider -provider-path -config"),
    options("openvpn", "--up --down --route-up --ipchange --learn-address --tls-verify --plugin --config"),
    options("certbot", "--pre-hook --post-hook --deploy-hook --renew-hook --manual-auth-hook --manual-cleanup-hook"),
    options("pandoc", "-F -L --filter --lua-filter --pdf-engine --pdf-engine-opt -d --defaults"),
    options("helm", "--post-renderer --post-renderer-args"),
    options("rpm rpmbuild rpmquery", "-D -E --define --eval --pipe --load -i -U"),
    options("dpkg", "-i --install --pre-invoke --post-invoke"),
    options("exiftool", "-if -p -config -api"),
    options("scrot", "-e --exec"),
    options("open", "-a -b"),
    shell_line("wsl rundll32 mshta regsvr32 msiexec forfiles wmic", 0, ""),
    program("cscript wscript", OperandRule::Script),
    options("xdotool", "exec"),
    KnownProgram { targets: "exec", ..options("ip", "") },
    KnownProgram { rest: "-a -x --startas --exec", ..options("start-stop-daemon", "") },
    // `make` expands a value before its recipe uses it, and an argument `X=…` is such a value.
    KnownProgram {
        expands_environment: true,
        code: "--eval -E",
        load: "-f --file --makefile -C --directory -I",
        ..shell_line("make gmake bmake remake", 0, "-j -l -o -W")
    },
    KnownProgram { load: "-f -C -t", ..options("ninja samu", "") },
    KnownProgram {
        rest: "-E",
        code: "-D -G -T -A",
        load: "-P -S -C -H --build --install --preset --toolchain",
        valued: "-B --parallel -j --target --config --prefix",
        ..program("cmake", OperandRule::Script)
    },
    options("ctest cpack", "-S -SP -D -C --build-and-test"),
    // `@x` is a file with further options.
    marked(
        "gcc g++ cc c++ clang clang++ c89 c99 gfortran ld lld gold ar as",
        "@",
        "-wrapper --wrapper -B -specs -fplugin -Xclang -load",
    ),
    marked("rustc rustdoc", "@", "-C -Z --codegen"),
    marked(
        "javac jar kotlinc-jvm scalac",
        "@",
        "-processor -processorpath -cp -classpath -J --class-path --processor-path",
    ),
    KnownProgram {
        rest: "install script eval",
        valued: "-C",
        ..options_of_subcommand("cargo", "--config watch:-x watch:-s")
    },
    // `\x` is TeX code.
    marked(
        "tex latex pdftex pdflatex xetex xelatex luatex lualatex context",
        "\\&*",
        "-output-comment --lua --luaonly",
    ),
    options("latexmk", "-e -latex -pdflatex -xelatex -lualatex -r"),
    // `|x` and `msl:x` start programs.
    marked("magick convert mogrify identify montage composite", "|@", "-process"),
    KnownProgram {
        code: "-c --config-env --exec-path --upload-pack --receive-pack --exec --extcmd --config --template \
               --env-filter --tree-filter --index-filter --msg-filter --commit-filter --parent-filter \
               --open-files-in-pager --to-cmd --cc-cmd --sendmail-cmd --smtp-server --separate-git-dir \
               clone:-c clone:-u rebase:-x grep:-O difftool:-x send-pack:-x",
        rest: "foreach config filter-branch for-each-repo daemon",
        starts: "run",
        valued: "-C --git-dir --work-tree --namespace --super-prefix",
        ..program("git", OperandRule::Subcommand)
    },
    options_of_subcommand("hg", "--config"),
    options_of_subcommand("svn", "--config-option --diff-cmd --diff3-cmd --editor-cmd"),
    KnownProgram {
        starts: "-args --args --",
        ..options(
            "gdb lldb cgdb",
            "-ex -iex -x -ix -o -O -s --eval-command --init-eval-command --command --init-command --one-line",
        )
    },
    KnownProgram {
        load: "-S -u -U",
        ..marked("vim vi nvim ex view gvim vimdiff rvim rview evim vimx", "+", "-c --cmd")
    },
    marked("less more most pg zless", "+", "-k --lesskey-file --lesskey-content"),
    KnownProgram { marks: "!", ..reader("ed red", "", "", "-p") },
    options("emacs emacsclient", "-e -l -f --eval --execute --load --funcall"),
    options("nano pico", "-s --speller"),
    options("gimp blender inkscape", "-b -P --batch --python-expr --python --actions"),
    options("nix nix-shell nix-build nix-instantiate nix-env", "-E -p -c --expr --run --command --apply"),
    // Installers run code from what they install.
    KnownProgram {
        rest: "install download wheel",
        ..options("pip easy_install", "-r -c -e -i --index-url --extra-index-url")
    },
    KnownProgram { rest: "install", ..options("gem luarocks composer opam cabal stack", "-e") },
    KnownProgram {
        rest: "install add run",
        ..options(
            "opkg pkg apt apt-get aptitude dnf yum zypper brew apk pacman snap port choco winget scoop",
            "-o -c --option --setopt",
        )
    },
    KnownProgram {
        rest: "run-script dlx start test stop restart install i add ci create init",
        ..runner("npm yarn pnpm", "run exec x", "--prefix -C -w --workspace")
    },
    KnownProgram {
        rest: "install inject add tool",
        ..runner(
            "uv pipx poetry pipenv pdm rye hatch",
            "run",
            "--with -p --python --extra --group -C --directory --project",
        )
    },
    // Frameworks.
    options("django-admin manage.py", "-c --command --settings"),
    options("rails", "runner r"),
    options("wp drush", "eval eval-file php-eval php-script ev --exec --require"),
    program("gunicorn uvicorn hypercorn daphne", OperandRule::Script),
    options("celery flask", "-A --app"),
    options(
        "pytest mocha jest eslint webpack rollup vite babel tsc",
        "-p -c -r --config --require --project --rulesdir",
    ),
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
    KnownProgram { marks: "@", ..reader("sqlcmd sqlplus isql osql", "-Q -q", "-i", "-S -U -P -d") },
    reader("hive beeline spark-sql snowsql impala-shell", "-e -q --query", "-f -i", "-u -n -p -d --hiveconf"),
    editor("cypher-shell", "", "-a -u -p -d --address --username --password --database --param"),
    options("redis-cli valkey-cli", "--eval eval EVAL script SCRIPT fcall FCALL"),
    KnownProgram {
        code: "-cmd --cmd -c",
        load: "-init --init -f",
        valued: "-separator -nullvalue -newline",
        ..program("sqlite sqlite3 sqlcipher duckdb", OperandRule::CodeAfter(1))
    },
];
