#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# runtime/symbols against what compilers, linkers and strippers make of one subject: tests/integration/symbols/marked.c,
# whose lines, inlined chains and callers are known by marks in its comments. Every variant must give the same units;
# what it says of each instruction is compared with llvm-symbolizer, and libelfin with libdw where both can read.
# parallel

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use File::Copy;
use File::Path qw(make_path);
use File::Temp;
use Test::More;

my $root = abs_path($ENV{TEST_ROOT} // dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{TEST_BUILD} // "$root/build/release");
my $dump = "$build/tests/integration/symbols_dump";
my $subjects = "$root/tests/integration/symbols";
plan skip_all => "$dump is not built" unless -x $dump;

my $tmp = File::Temp->newdir;
chdir $tmp or die;
delete @ENV{qw(DEBUGINFOD_URLS WHATIF_DEBUG_PATH)};
$ENV{LC_ALL} = 'C';

# ---- tools --------------------------------------------------------------------------------------------

sub have { return system("command -v $_[0] >/dev/null 2>&1") == 0 }

sub sh {
    my ($command) = @_;
    return system("{ $command ; } >sh.log 2>&1") == 0;
}

sub quoted { return join ' ', map { my $x = $_; $x =~ s/'/'\\''/g; "'$x'" } @_ }

sub dump_of {    # dump_of BINARY, QUESTION...: its lines
    my ($binary, @questions) = @_;
    return split /\n/, scalar qx(@{[quoted($dump, ref $binary ? @$binary : $binary, '--', @questions)]});
}

# ---- marks --------------------------------------------------------------------------------------------

my %mark;    # NAME => "file.c:LINE"
for my $file (glob "$subjects/*") {
    open my $in, '<', $file or die;
    while (<$in>) { $mark{$1} = basename($file) . ":$." if /\@([A-Z_]+)/ }
}

# ---- units --------------------------------------------------------------------------------------------

sub ranges {    # ranges KIND, LINES: [low, high]...
    my ($kind, @lines) = @_;
    return map { /^$kind \d+ (\S+) (\S+)/ ? [hex $1, hex $2] : () } @lines;
}

# units_of BINARY, NAME...: for each name its lines, all asked at once.
sub units_of {
    my ($binary, @names) = @_;
    my (%lines, $name);
    for (dump_of($binary, map { ('unit', $_) } @names)) {
        $name = shift @names if /^(unit|error) /;
        push @{ $lines{$name} }, $_;
    }
    return \%lines;
}

# The functions in scope at the beginnings of ranges.
sub functions_at {
    my ($binary, @ranges) = @_;
    my %seen;
    for (dump_of($binary, map { ('name', 0, sprintf '%x', $_->[0]) } @ranges)) { $seen{$1} = 1 if /\t(.*)/ }
    return join ',', sort keys %seen;
}

my @functions = qw(inner middle helper leaf outer other second);
my @lines = qw(INNER LEAF HELPER NEVER);
my @paths = ('inner < outer', 'leaf < other', "$mark{INNER} < $mark{MIDDLE}");

sub check_units {
    my ($name, $binary, %is) = @_;
    my @faults;
    my @wanted = grep { !($is{dropped} && $_ eq 'NEVER') } @lines;
    my $units = units_of($binary, @functions, @paths, map { $mark{$_} } @wanted);
    for (@functions, map { $mark{$_} } @wanted) {
        push @faults, "$_: $units->{$_}[0]" unless $units->{$_}[0] =~ /^unit \d \Q$_\E$/;
        push @faults, "$_ has no code of its own" unless ranges('selected', @{ $units->{$_} });
    }
    push @faults, 'an inlined call path has no code' unless ranges('selected', @{ $units->{ $paths[2] } });
    push @faults, 'inner is called from outer without middle' unless $units->{'inner < outer'}[0] =~ /^error/;
    my @leaf = @{ $units->{'leaf < other'} };
    push @faults, 'leaf < other: not by the caller' unless ranges('if_called', @leaf) && !ranges('selected', @leaf);
    my $callers = functions_at($binary, ranges('callers', @leaf));
    push @faults, "leaf < other: callers are $callers" unless $callers eq 'other';
    ok(!@faults, "$name: units are found") or diag join "\n", @faults;
}

# Static functions of one name in two files.
sub check_twins {
    my ($name, $binary) = @_;
    my %ranges;
    my $units = units_of($binary, qw(twin marked.c:twin second.c:twin));
    $ranges{$_} = join ' ', map { "@$_" } ranges('selected', @{ $units->{$_} }) for keys %$units;
    my $both = join ' ', sort { $a <=> $b } split / /, "$ranges{'marked.c:twin'} $ranges{'second.c:twin'}";
    ok($ranges{'marked.c:twin'} && $ranges{'second.c:twin'} && $both eq $ranges{twin},
        "$name: functions of one name are told apart by their files, and meant together without one");
}

# ---- comparison with another symbolizer ----------------------------------------------------------------------

sub instructions {
    my ($binary, $max) = @_;
    my @all = map { /^\s+([0-9a-f]+):\t/ ? $1 : () } qx(objdump -d --no-show-raw-insn $binary);
    my $step = int(@all / $max) + 1;
    return map { $all[$_ * $step] } 0 .. int($#all / $step);
}

sub normal {    # what is between /./ and /x/../ means nothing
    my ($path) = @_;
    $path =~ s{/\./}{/}g;
    1 while $path =~ s{/[^/]+/\.\./}{/};
    return $path;
}

sub chains_of_ours {
    my ($binary) = @_;
    return map { chomp; join ' < ', map { (split /\t/)[2] } split / \| / }
        qx(@{[quoted($dump, $binary, '--', 'stdin', '0')]} <addresses);
}

sub chains_of_llvm {
    my ($binary) = @_;
    local $/ = '';
    return map {
        my @lines = split /\n/;
        join ' < ', map { my $at = $lines[$_]; $at =~ s/:\d+$//; normal($at) } grep { $_ % 2 } 0 .. $#lines;
    } qx(llvm-symbolizer --obj=$binary -i --output-style=LLVM <addresses 2>/dev/null);
}

my $llvm = have('llvm-symbolizer');

sub check_chains {
    my ($name, $binary, $max) = @_;
    SKIP: {
        skip "$name: no llvm-symbolizer", 1 unless $llvm;
        my @addresses = instructions($binary, $max // 300);
        open my $out, '>', 'addresses' or die;
        print $out "0x$_\n" for @addresses;
        close $out;
        my @ours = chains_of_ours($binary);
        my @theirs = chains_of_llvm($binary);
        # A name of a file with line 0 is what llvm makes of a symbol; we say that nothing is known.
        my @differ = grep { $ours[$_] ne $theirs[$_] && $theirs[$_] !~ /^\S*:0$/ } 0 .. $#addresses;
        my $known = grep { !/^\?\?/ } @ours;
        ok(@addresses && @theirs == @addresses && !@differ && $known,
            "$name: chains at " . @addresses . ' addresses agree with llvm-symbolizer')
            or diag join "\n", map { "$addresses[$_]: $ours[$_]\n   not $theirs[$_]" } @differ[0 .. ($#differ < 4 ? $#differ : 4)];
    }
}

sub check_readers {
    my ($name, $binary) = @_;
    my ($line) = dump_of($binary, 'readers', $binary);
    like($line, qr/^[1-9]\d* stretches, 0 differ;/, "$name: libelfin and libdw agree");
}

# Of two binaries with the same code.
sub check_same_chains {
    my ($name, $binary, $other) = @_;
    open my $out, '>', 'addresses' or die;
    print $out "0x$_\n" for instructions($binary, 300);
    close $out;
    is(join("\n", chains_of_ours($binary)), join("\n", chains_of_ours($other)), "$name: chains are the same");
}

sub notices_of {
    my ($binary) = @_;
    return join "\n", grep { /^notice/ } dump_of($binary, 'scope', 'notices');
}

# ---- variants ------------------------------------------------------------------------------------------

my $c = "$subjects/marked.c $subjects/second.c";
my %compiler = (gcc => $ENV{CC} // 'gcc', clang => 'clang');

sub compile {    # compile NAME, COMPILER, FLAGS: the program
    my ($name, $compiler, $flags, $sources) = @_;
    my $made = sh("$compiler $flags @{[$sources // $c]} -o $name");
    diag qx(cat sh.log) unless $made;
    return $made ? "./$name" : undef;
}

for my $which (qw(gcc clang)) {
    SKIP: {
        skip "no $which", 1 unless have($compiler{$which});
        for my $dwarf (2 .. 5) {
            for my $level (qw(O0 O2)) {
                my $name = "$which-dwarf$dwarf-$level";
                my $binary = compile($name, $compiler{$which}, "-$level -gdwarf-$dwarf") or next;
                check_units($name, $binary);
                check_chains($name, $binary);
                check_readers($name, $binary) if $dwarf < 5 && ($which eq 'clang' || $level eq 'O0');
            }
        }
        my %more = (
            'O1' => '-O1 -g', 'O3' => '-O3 -g', 'Og' => '-Og -g', 'g1' => '-O2 -g1', 'lto' => '-O2 -g -flto',
            'no-pie' => '-O2 -g -no-pie', 'zlib' => '-O2 -g -gz=zlib', 'zlib-dwarf4' => '-O2 -gdwarf-4 -gz=zlib',
            'sections' => '-O2 -g -ffunction-sections', 'noseparate' => '-O2 -g -Wl,-z,noseparate-code',
            'far' => '-O2 -g -no-pie -Wl,-Ttext-segment=0x60000000',
        );
        $more{'lto'} .= ' -fuse-ld=lld' if $which eq 'clang';
        for my $what (sort keys %more) {
            next if $what eq 'lto' && $which eq 'clang' && !have('ld.lld');
            my $binary = compile("$which-$what", $compiler{$which}, $more{$what}) or next;
            check_units("$which $what", $binary, dropped => $what eq 'lto');
            check_chains("$which $what", $binary);
        }
        my $plain = "./$which-O3";
        check_twins($which, $plain);
        if (my $binary = compile("$which-gc", $compiler{$which}, '-O2 -g -ffunction-sections -Wl,--gc-sections')) {
            check_units("$which gc-sections", $binary, dropped => 1);
            check_chains("$which gc-sections", $binary);
            like((dump_of($binary, 'unit', 'never'))[0], qr/^error/, "$which: a function that the linker dropped has no code");
        }
        if (have('ld.lld') && (my $binary = compile("$which-lld", $compiler{$which}, '-O2 -g -fuse-ld=lld -Wl,--gc-sections -ffunction-sections'))) {
            check_units("$which lld", $binary, dropped => 1);
            check_chains("$which lld", $binary);
        }
    }
}

# ---- where debug information is --------------------------------------------------------------------------

my $plain = compile('plain', $compiler{gcc}, '-O2 -g') or BAIL_OUT('no compiler');
my $build_id = (qx(readelf -n plain) =~ /Build ID: ([0-9a-f]+)/)[0] // '';
my $debug_name = substr($build_id, 0, 2) . '/' . substr($build_id, 2) . '.debug';

sub stripped {    # stripped NAME, OBJCOPY FLAGS: in a folder of its own
    my ($name, $flags) = @_;
    make_path($name);
    sh("objcopy $flags plain $name/plain") or die;
    return "$name/plain";
}

if (sh('objcopy --compress-debug-sections=zstd plain zstd')) {
    check_units('zstd', './zstd');
} else {
    SKIP: { skip 'objcopy knows no zstd', 1 }
}
sh('objcopy --only-keep-debug plain plain.debug') or die;
sh('objcopy --add-gnu-debuglink=plain.debug plain linked') or die;

{
    my $binary = stripped('nothing', '--strip-all');
    my $notices = notices_of($binary);
    like($notices, qr/^notice no-debug-info /m, 'a stripped program: the lack of debug information is said');
    like($notices, qr/^notice no-symbols /m, 'a stripped program: the lack of symbols, too');
    like((dump_of($binary, 'frames', 0, '1234'))[0], qr/^plain\+0x1234\t/, 'a stripped program: code is named by its address');
    is((dump_of($binary, 'name', 0, '1234'))[0], "-\t-", 'a stripped program: code without a name is no unit');
}
{
    my $binary = stripped('debug-stripped', '--strip-debug');
    my @lines = dump_of($binary, 'unit', 'leaf < other', 'detail');
    ok(ranges('if_called', @lines) && ranges('callers', @lines), 'without debug information: functions and callers are known');
    like($lines[-1], qr/^detail 0 1 1$/, 'without debug information: and the module says so');
}
{
    local $ENV{WHATIF_DEBUG_PATH} = "$tmp/none:$tmp/store";
    make_path(dirname("store/.build-id/$debug_name"));
    copy('plain.debug', "store/.build-id/$debug_name");
    my $binary = stripped('by-id', '--strip-all');
    check_units('debug file by build-id', $binary);
    is(notices_of($binary), '', 'debug file by build-id: nothing to complain of');
}
for my $place ('', '.debug/') {
    make_path("by-link$place/$place");
    copy('plain.debug', "by-link$place/${place}plain.debug");
    sh("objcopy --strip-all linked by-link$place/plain") or die;
    check_units("debug file by link in ./$place", "by-link$place/plain");
}
{
    # Without build-ids the checksum decides.
    compile('nameless', $compiler{gcc}, '-O2 -g -Wl,--build-id=none');
    make_path('by-sum');
    sh('objcopy --only-keep-debug nameless by-sum/n.debug; objcopy --strip-all --add-gnu-debuglink=by-sum/n.debug nameless by-sum/nameless') or die;
    check_units('debug file by checksum', 'by-sum/nameless');
    sh('printf x >>by-sum/n.debug');
    like(notices_of('by-sum/nameless'), qr/^notice debug-file-mismatch /m, 'a debug file with another checksum is not believed');
}
{
    my $other = compile('other', $compiler{gcc}, '-O1 -g');
    make_path('mismatch');
    sh('objcopy --only-keep-debug other mismatch/plain.debug; objcopy --strip-all linked mismatch/plain') or die;
    like(notices_of('mismatch/plain'), qr/^notice debug-file-mismatch /m, 'a debug file of another build is not believed');
}
SKIP: {
    skip 'no xz', 1 unless have('xz');
    # As Fedora does: a compressed .symtab of what .dynsym lacks.
    sh('objcopy --strip-debug plain mini; xz -k mini; objcopy --strip-all --add-section .gnu_debugdata=mini.xz plain with-mini') or die;
    my @lines = dump_of('./with-mini', 'unit', 'leaf < other');
    ok(ranges('if_called', @lines) && ranges('callers', @lines), '.gnu_debugdata: functions and callers are known');
}
{
    compile('exported', $compiler{gcc}, '-O2 -g -rdynamic');
    my $binary = './exported-only';
    sh('objcopy --strip-all exported exported-only') or die;
    my @lines = dump_of($binary, 'unit', 'leaf < other');
    ok(ranges('if_called', @lines) && ranges('callers', @lines), '.dynsym: exported functions are known');
}

# ---- split DWARF -----------------------------------------------------------------------------------------

for my $dwarf (4, 5) {
    for my $which (qw(gcc clang)) {
        next unless have($compiler{$which});
        my $dir = "split-$which-$dwarf";
        make_path($dir);
        sh("cd $dir && $compiler{$which} -O2 -gdwarf-$dwarf -gsplit-dwarf -c $subjects/marked.c $subjects/second.c && " .
            "$compiler{$which} marked.o second.o -o marked") or die;
        my $binary = "$dir/marked";
        check_units("split DWARF $dwarf, $which", $binary);
        compile("unsplit-$which-$dwarf", $compiler{$which}, "-O2 -gdwarf-$dwarf");
        check_same_chains("split DWARF $dwarf, $which", $binary, "./unsplit-$which-$dwarf");
        make_path("$dir/away");
        sh("mv $dir/*.dwo $dir/away/") or die;
        my $notices = notices_of($binary);
        like($notices, qr/^notice split-dwarf-missing 0 2 /m, "split DWARF $dwarf, $which: missing .dwo files are counted");
        my @lines = dump_of($binary, 'unit', 'leaf < other', 'unit', $mark{LEAF});
        ok(ranges('selected', @lines) && ranges('callers', @lines),
            "split DWARF $dwarf, $which: without them, lines and the symbols' functions remain");
        sh("touch $dir/marked.dwp");
        like(notices_of($binary), qr/^notice split-dwarf-package /m, "split DWARF $dwarf, $which: a .dwp is named as what cannot be read");
    }
}

# ---- dwz ---------------------------------------------------------------------------------------------------

SKIP: {
    skip 'no dwz', 3 unless have('dwz');
    make_path('dwz');
    compile('dwz/a', $compiler{gcc}, '-O2 -g');
    compile('dwz/b', $compiler{gcc}, '-O2 -g -DB');
    skip 'dwz moves nothing here', 3 unless sh('cd dwz && dwz -m common.debug a b') && -e 'dwz/common.debug';
    check_units('dwz', 'dwz/a');
    check_chains('dwz', 'dwz/a');
    sh('mv dwz/common.debug dwz/gone');
    like(notices_of('dwz/a'), qr/^notice debug-alt-missing /m, 'dwz: a missing common file is named');
}

# ---- debuginfod ----------------------------------------------------------------------------------------------

SKIP: {
    skip 'no libdebuginfod', 2 unless glob '/usr/lib/*/libdebuginfod.so.1';
    my $binary = stripped('remote', '--strip-all');
    make_path("server/buildid/$build_id");
    copy('plain.debug', "server/buildid/$build_id/debuginfo");
    local $ENV{DEBUGINFOD_CACHE_PATH} = "$tmp/cache";
    like(notices_of($binary), qr/^notice no-debug-info /m, 'debuginfod is not asked unasked');
    local $ENV{DEBUGINFOD_URLS} = "file://$tmp/server";
    check_units('debuginfod', $binary);
}

# ---- other languages -------------------------------------------------------------------------------------------

for my $which (qw(g++ clang++)) {
    SKIP: {
        skip "no $which", 1 unless have($which);
        for my $flags ('-O0 -g', '-O2 -g', '-O3 -gdwarf-4', '-O2 -g1') {
            (my $name = "cxx-$which$flags") =~ tr/ //d;
            my $binary = compile($name, $which, $flags, "$subjects/shapes.cc") or next;
            check_chains("$which $flags", $binary, 500);
            my @lines = dump_of($binary, 'unit', 'Engine::run', 'unit', 'app::Engine::scale(int)', 'unit', 'Engine::scale');
            my @names = map { /^unit 1 (.*)/ ? $1 : () } @lines;
            is("@names", 'app::Engine::run app::Engine::scale(int) Engine::scale', "$which $flags: C++ names, whole, short, and with parameters");
            my @ranges = ranges('scope', dump_of($binary, 'scope'));
            my @system = grep { /\t\S*include\/c\+\+.*\tin$/ } dump_of($binary, map { ('frames', 0, sprintf '%x', $_->[0]) } @ranges);
            is("@system", '', "$which $flags: the standard library's code is not in scope");
        }
    }
}
SKIP: {
    skip 'no rustc', 1 unless have('rustc');
    for my $flags ('-O -g', '-g -C debuginfo=2', '-O -g -C symbol-mangling-version=v0') {
        (my $name = "rust$flags") =~ tr/ =//d;
        my $binary = compile($name, 'rustc', $flags, "$subjects/shapes.rs") or next;
        check_chains("rustc $flags", $binary, 700);
        check_readers("rustc $flags", $binary);
        my @lines = dump_of($binary, 'unit', 'churn', 'unit', 'shapes::total', 'unit', 'mix < churn', 'scope');
        my @names = map { /^unit \d (.*)/ ? $1 : () } @lines;
        like("@names", qr/^shapes::churn (shapes::)?shapes::total shapes::mix < shapes::churn$/, "rustc $flags: names are demangled");
        my %in;
        for (dump_of($binary, map { ('name', 0, sprintf '%x', $_->[0]) } ranges('scope', @lines))) { $in{$1} = 1 if /^(\S+):\d+\t/ }
        is(join(',', sort keys %in), 'shapes.rs', "rustc $flags: only the program's own sources are in scope");
    }
}
SKIP: {
    skip 'no gfortran', 1 unless have('gfortran');
    my $binary = compile('fortran', 'gfortran', '-O2 -g', "$subjects/grid.f90");
    check_chains('gfortran', $binary);
    my @names = map { /^unit \d (.*)/ ? $1 : () } dump_of($binary, 'unit', 'relax', 'unit', 'grid::relax', 'unit', 'inner');
    is("@names", 'grid::relax grid::relax inner', 'gfortran: procedures of modules and contained ones');
}

# ---- modules -----------------------------------------------------------------------------------------------------

{
    my @lines = dump_of(['./plain', '[vdso]'], 'functions', 'detail');
    ok((grep { /^function 1 \S+ __vdso_clock_gettime$|^function 1 \S+ clock_gettime$/ } @lines), 'the vdso has its functions');
    like($lines[-1], qr/^detail 1 1 0$/, 'the vdso is out of scope');
}
{
    make_path('project/bin', 'project/lib', 'elsewhere');
    sh("touch project/Makefile; $compiler{gcc} -O2 -g -shared -fPIC $subjects/second.c -o project/lib/libsecond.so; cp project/lib/libsecond.so elsewhere/; cp plain project/bin/") or die;
    my @lines = dump_of(["$tmp/project/bin/plain", "$tmp/project/lib/libsecond.so", "$tmp/elsewhere/libsecond.so"], 'unit', 'second', 'detail');
    my %modules = map { /^selected (\d)/ ? ($1 => 1) : () } @lines;
    is(join(',', sort keys %modules), '0,1', 'a library of the project is in scope, one elsewhere is not');
    my $out = join "\n", qx(@{[quoted($dump, '--include', '*elsewhere*', "$tmp/project/bin/plain", "$tmp/elsewhere/libsecond.so", '--', 'unit', 'second')]});
    like($out, qr/^selected 1 /m, 'an include glob takes another library in');
    unlike($out, qr/^selected 0 /m, 'and only that');
    $out = join "\n", qx(@{[quoted($dump, '--exclude', 'marked.c', "$tmp/project/bin/plain", '--', 'unit', 'leaf', 'unit', 'second')]});
    like($out, qr/^error.*\n+unit 1 second/m, 'an exclude glob takes a source file out');
    $out = join "\n", qx(@{[quoted($dump, '--exclude', 'inner', "$tmp/project/bin/plain", '--', 'unit', 'inner', 'unit', $mark{MIDDLE})]});
    like($out, qr/^error.*\n+unit 0 \Q$mark{MIDDLE}\E\n/m, 'what is excluded belongs to its caller');
}

done_testing();
chdir $root;    # or the folder could not be removed
