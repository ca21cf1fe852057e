//! The programs that are known to start another one, as data.

use super::row::{options, program, runner, shell_starting, wrapper};
use super::{KnownProgram, OperandRule};

/// The programs.
pub(super) const WRAPPERS: &[KnownProgram] = &[
    wrapper("nice", 0, "-n --adjustment", ""),
    wrapper(
        "service invoke-rc.d rc-service msgfilter systemd-cat run-one run-this-one flatpak-spawn srun mpirun mpiexec prun aprun \
         tsp nq",
        0,
        "-n -np -N -p -t -J -i -o -E -H",
        "--host",
    ),
    wrapper("tcpserver", 2, "-c -g -u -l -t -x", "-v -q -Q -R -H -h -p"),
    wrapper("sshpass", 0, "-f -p -d -P", "-e -v"),
    wrapper(
        "nohup ld.so ld-linux ld-linux-x86-64.so ld-linux-aarch64.so ld-musl-x86_64.so wine wine64 box64 mono busybox toybox coreutils catatonit torsocks torify proxychains proxychains4 unbuffer chronic ifne fakeroot \
         eatmydata catchsegv dbus-run-session daemonize ccache sccache distcc grc heaptrack",
        0,
        "",
        "-q -p -n",
    ),
    wrapper("setsid", 0, "", "-c -f -w --ctty --fork --wait"),
    wrapper("tini dumb-init", 0, "-p -e --rewrite", "-s -g -v -w -c"),
    wrapper(
        "setarch linux32 linux64 i386 x86_64 arch",
        0,
        "-e",
        "-R -B -F -I -L -S -T -X -Z -v -32 -64 -x86_64 -arm64",
    ),
    KnownProgram {
        code: "-s --server-args",
        ..wrapper(
            "xvfb-run",
            0,
            "-e -f -n -p -w --error-file --auth-file --server-num --xauth-protocol --wait",
            "-a -l",
        )
    },
    wrapper("caffeinate ssh-agent dbus-launch", 0, "-t -w -a -E -P", "-d -i -m -s -u -k -c -D"),
    wrapper("timeout gtimeout", 1, "-s -k --signal --kill-after", "-f -p -v --foreground --preserve-status --verbose"),
    wrapper(
        "stdbuf time gtime multitime",
        0,
        "-i -o -e -f -n --input --output --error --format",
        "-p -v -a -q -l --portability --verbose --append --quiet",
    ),
    wrapper("ionice", 0, "-c -n -p -P -u --class --classdata", "-t --ignore"),
    KnownProgram {
        starts_shell: true,
        ..wrapper(
            "chroot taskset chrt faketime su-exec gosu setuidgid envdir setlock logsave lckdo s6-setuidgid s6-envdir s6-setlock",
            1,
            "-T -P -D",
            "-a -b -c -d -f -i -m -n -N -o -r -R -v -x -X --skip-chdir --all-tasks --cpu-list --rr --fifo --batch --idle",
        )
    },
    shell_starting(
        "unshare setpriv",
        0,
        "-S -G -R -w --setuid --setgid --root --wd --reuid --regid --groups --inh-caps --bounding-set --ambient-caps",
        "-m -u -i -n -p -U -C -T -f -r -c --mount --uts --ipc --net --pid --user --cgroup --time --fork --map-root-user \
         --map-current-user --mount-proc --keep-caps --no-new-privs --clear-groups --keep-groups --init-groups --reset-env",
    ),
    shell_starting(
        "nsenter",
        0,
        "-t -S -G --target --setuid --setgid",
        "-m -u -i -n -p -C -U -T -a -F --mount --uts --ipc --net --pid --cgroup --user --time --all --no-fork \
         --preserve-credentials",
    ),
    wrapper("pkexec", 0, "-u --user", "--disable-internal-agent --keep-cwd"),
    wrapper(
        "choom prlimit cpulimit softlimit cgexec numactl",
        0,
        "-n -l -p -g -m -a -c -d -N -C -e -s -t -f -o -r",
        "",
    ),
    wrapper("chpst", 0, "-u -U -b -e -n -l -L -m -d -o -p -f -c -r -t", "-P -0 -1 -2 -v"),
    wrapper("aa-exec firejail bwrap proot rlwrap openvt dtach abduco rr uftrace", 0, "", ""),
    wrapper("valgrind", 0, "", "-q -v -d --quiet --verbose"),
    KnownProgram { starts: "record stat trace", ..program("perf", OperandRule::ProgramAfterDashes) },
    KnownProgram {
        code: "-p --property",
        sets: "-E --setenv",
        ..wrapper(
            "systemd-run systemd-inhibit",
            0,
            "-u -M -H --unit --machine --host --slice --description --uid --gid --nice --working-directory \
             --what --who --why --mode",
            "-t -P -q -d -G -r --pty --pipe --quiet --same-dir --collect --wait --user --system --scope \
             --remain-after-exit --no-block --no-ask-password",
        )
    },
    wrapper(
        "strace ltrace",
        0,
        "-a -b -e -E -I -l -o -O -p -P -s -S -u -U -X --trace --output",
        "-A -c -C -d -D -f -ff -F -h -i -k -n -q -qq -r -t -tt -ttt -T -v -w -x -xx -y -yy -z -Z --follow-forks",
    ),
    KnownProgram {
        rest: "-I -i -J --replace",
        valued: "-a -d -E -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines --max-chars --eof",
        flags: "-0 -r -t -p -x -o --null --no-run-if-empty --verbose --interactive --exit --open-tty",
        appends_stdin: true,
        ..program("xargs gxargs", OperandRule::ProgramAfter(0))
    },
    KnownProgram { code: "-s", ..wrapper("entr", 0, "", "-a -c -d -n -p -r -z") },
    KnownProgram {
        code: "-c --call",
        ..wrapper("npx bunx pnpx uvx", 0, "-p --package --from --with --python", "-y -q --yes --no --quiet")
    },
    KnownProgram { starts: "-exec -execdir -ok -okdir", ..program("find gfind", OperandRule::Data) },
    KnownProgram { starts: "-x -X --exec --exec-batch", ..program("fd fdfind", OperandRule::Data) },
    KnownProgram {
        targets: "exec debug shell enter",
        sets: "--env",
        ..runner(
            "kubectl oc k3s microk8s lxc incus lxc-attach distrobox toolbox machinectl systemd-nspawn cross",
            "",
            "-c -n --container --namespace --context --kubeconfig -f --filename --user --cwd --env",
        )
    },
    KnownProgram {
        targets: "exec shell run enter attach",
        ..runner(
            "pct multipass limactl crictl ctr buildah runc crun singularity apptainer nomad rustup nvm direnv",
            "",
            "--exec-id --user --cwd --env --task --job --group --workdir",
        )
    },
    runner(
        "bundle rbenv volta fnm mise asdf conda mamba micromamba dotenv foreman overmind honcho nodenv pyenv",
        "exec run",
        "-n -p --name --prefix",
    ),
    KnownProgram { rest: "install", ..runner("flatpak", "run", "") },
    runner("op doppler aws-vault chamber teller infisical", "run exec", ""),
    KnownProgram { rest: "exec-env exec-file", ..options("sops", "") },
    KnownProgram {
        load: "--entrypoint --env-file",
        sets: "-e --env",
        valued: "-d -i -t -q -P -T -D --debug --tls --tlsverify --detach --interactive --tty --rm --init --privileged --read-only --quiet \
                 --publish-all --no-healthcheck --oom-kill-disable --sig-proxy --no-deps --build --service-ports \
                 --use-aliases --no-TTY --remove-orphans",
        ..program("docker podman nerdctl docker-compose podman-compose", OperandRule::Container)
    },
];
