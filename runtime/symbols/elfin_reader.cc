/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libelfin, the only file that knows it: the ELF layer (elf_file.h) and the reader for DWARF 2 to 4.
 *
 * libelfin throws on what it does not like, and every function with a C face here turns that into an error; what
 * it trusts blindly is checked first (lengths of units and line tables, sizes of tables). It also keeps itself
 * alive by circular references, which closing a file breaks by hand.
 *
 * What it cannot read is left to the next reader: whole files with a unit of DWARF 5, units of gcc with
 * DW_AT_GNU_locviews, of dwz, and split ones.
 */
#include <libelfin/dwarf/dwarf++.hh>
#include <libelfin/elf/elf++.hh>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "runtime/symbols/inflate.h"
#include "runtime/symbols/reader.h"

namespace
{

/* libelfin reads whole headers at offsets that only the entry size bounds: leave room behind every buffer. */
constexpr size_t slack = 128;

struct free_deleter {
    void operator()(void *bytes) const
    {
        free(bytes);
    }
};
using buffer = std::unique_ptr<uint8_t, free_deleter>;

buffer allocate(size_t size)
{
    buffer bytes(static_cast<uint8_t *>(malloc(size + slack)));
    if (!bytes)
        throw std::bad_alloc();
    memset(bytes.get() + size, 0, slack);
    return bytes;
}

/* Hands libelfin what it asks for out of the mapped file, or of an image in memory. */
class image_loader : public elf::loader
{
  public:
    image_loader(int file, size_t size) : fd(file), image_size(size)
    {
        void *mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapped == MAP_FAILED) {
            close(file);
            throw std::runtime_error("cannot be mapped");
        }
        image = static_cast<const uint8_t *>(mapped);
    }
    image_loader(const void *bytes, size_t size)
        : image(static_cast<const uint8_t *>(bytes)), image_size(size)
    {
    }
    ~image_loader() override
    {
        if (fd < 0)
            return;
        munmap(const_cast<uint8_t *>(image), image_size);
        close(fd);
    }
    const void *load(off_t offset, size_t size) override
    {
        size_t at = static_cast<size_t>(offset);
        if (at > image_size || size > image_size - at)
            throw std::range_error("beyond the end of the file");
        if (image_size - at - size >= slack)
            return image + at;
        buffer bytes = allocate(size);
        memcpy(bytes.get(), image + at, size);
        held.push_back(std::move(bytes));
        return held.back().get();
    }
    const int fd = -1;

  private:
    const uint8_t *image = nullptr;
    const size_t image_size;
    std::vector<buffer> held;
};

} // namespace

/* ---- the ELF layer ----------------------------------------------------------------------------------- */

struct wi_elf {
    std::shared_ptr<image_loader> loader;
    elf::elf file;
    std::map<std::string, wi_bytes> sections; /* as handed out */
    std::vector<buffer> inflated;
};

namespace
{

int open_with(std::shared_ptr<image_loader> loader, struct wi_elf **out)
{
    std::unique_ptr<wi_elf> opened(new wi_elf);
    opened->loader = loader;
    opened->file = elf::elf(loader);
    *out = opened.release();
    return 0;
}

const char *name_of(const elf::section &section)
{
    try {
        return section.get_name(nullptr);
    } catch (...) {
        return ""; /* one bad name is not a bad file */
    }
}

const elf::section *find_section(const struct wi_elf *elf, const char *name)
{
    for (const auto &section : elf->file.sections())
        if (strcmp(name_of(section), name) == 0 && section.get_hdr().type != elf::sht::nobits)
            return &section;
    return nullptr;
}

bool is_compressed(const elf::section &section)
{
    return (static_cast<uint64_t>(section.get_hdr().flags) & SHF_COMPRESSED) != 0;
}

/* A section's bytes as they are in the file, and how they are packed. */
struct packed_section {
    wi_bytes raw = {nullptr, 0}; /* what a codec reads, or the bytes themselves */
    bool is_packed = false;
    wi_compression compression = WI_ZLIB;
    uint64_t size = 0;
};

/* SHF_COMPRESSED: a header that says how and how large, then the stream. */
packed_section unwrap(const struct wi_elf *elf, wi_bytes raw)
{
    packed_section out;
    Elf64_Chdr header;
    if (elf->file.get_hdr().ei_class != elf::elfclass::_64 || raw.size < sizeof header)
        return out;
    memcpy(&header, raw.data, sizeof header);
    constexpr uint32_t elfcompress_zstd = 2; /* newer than glibc 2.36's header */
    if (header.ch_type != ELFCOMPRESS_ZLIB && header.ch_type != elfcompress_zstd)
        return out;
    out.raw = {raw.data + sizeof header, raw.size - sizeof header};
    out.is_packed = true;
    out.compression = header.ch_type == ELFCOMPRESS_ZLIB ? WI_ZLIB : WI_ZSTD;
    out.size = header.ch_size;
    return out;
}

/* .zdebug_x: "ZLIB", the size as eight bytes in network order, then the stream. */
packed_section unwrap_zdebug(wi_bytes raw)
{
    packed_section out;
    if (raw.size < 12 || memcmp(raw.data, "ZLIB", 4) != 0)
        return out;
    for (int i = 4; i < 12; i++)
        out.size = out.size << 8 | raw.data[i];
    out.raw = {raw.data + 12, raw.size - 12};
    out.is_packed = true;
    return out;
}

packed_section look_up(const struct wi_elf *elf, const std::string &name)
{
    packed_section plain;
    bool zdebug = false;
    const elf::section *section = find_section(elf, name.c_str());
    if (!section && name.compare(0, 7, ".debug_") == 0) {
        section = find_section(elf, (".z" + name.substr(1)).c_str());
        zdebug = section != nullptr;
    }
    if (!section || section->size() == 0)
        return plain;
    wi_bytes raw = {static_cast<const uint8_t *>(section->data()), section->size()};
    if (zdebug)
        return unwrap_zdebug(raw);
    if (is_compressed(*section))
        return unwrap(elf, raw);
    plain.raw = raw;
    return plain;
}

wi_bytes load_section(struct wi_elf *elf, const std::string &name)
{
    packed_section found = look_up(elf, name);
    if (!found.is_packed)
        return found.raw;
    uint8_t *bytes = wi_inflate(found.compression, found.raw, found.size);
    if (!bytes)
        return {nullptr, 0};
    elf->inflated.emplace_back(bytes);
    return {bytes, static_cast<size_t>(found.size)};
}

bool is_debug_name(const char *name)
{
    return strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0;
}

/* A note's owner and contents are padded to four bytes each. */
size_t find_build_id(wi_bytes notes, uint8_t id[WI_BUILD_ID_MAX])
{
    Elf64_Nhdr note;
    size_t at = 0;
    while (notes.size - at >= sizeof note) {
        memcpy(&note, notes.data + at, sizeof note);
        at += sizeof note;
        size_t owner = (size_t{note.n_namesz} + 3) & ~size_t{3},
               content = (size_t{note.n_descsz} + 3) & ~size_t{3};
        if (owner > notes.size - at || content > notes.size - at - owner)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes.data + at, "GNU", 4) == 0 &&
            note.n_descsz <= WI_BUILD_ID_MAX) {
            memcpy(id, notes.data + at + owner, note.n_descsz);
            return note.n_descsz;
        }
        at += owner + content;
    }
    return 0;
}

bool in_spans(const std::vector<wi_span> &spans, uint64_t address)
{
    for (const auto &span : spans)
        if (address >= span.low && address < span.high)
            return true;
    return false;
}

} // namespace

int wi_elf_open(const char *path, struct wi_elf **out)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        close(fd);
        return -ENOEXEC;
    }
    try {
        return open_with(std::make_shared<image_loader>(fd, static_cast<size_t>(status.st_size)), out);
    } catch (...) {
        return -ENOEXEC;
    }
}

int wi_elf_open_memory(const void *image, size_t size, struct wi_elf **out)
{
    try {
        return open_with(std::make_shared<image_loader>(image, size), out);
    } catch (...) {
        return -ENOEXEC;
    }
}

void wi_elf_close(struct wi_elf *elf)
{
    if (!elf)
        return;
    const_cast<std::vector<elf::section> &>(elf->file.sections()).clear();
    const_cast<std::vector<elf::segment> &>(elf->file.segments()).clear();
    delete elf;
}

int wi_elf_fd(const struct wi_elf *elf)
{
    return elf->loader->fd;
}

struct wi_bytes wi_elf_section(struct wi_elf *elf, const char *name)
{
    try {
        auto known = elf->sections.find(name);
        if (known != elf->sections.end())
            return known->second;
        return elf->sections[name] = load_section(elf, name);
    } catch (...) {
        return {nullptr, 0};
    }
}

size_t wi_elf_section_start(struct wi_elf *elf, const char *name, uint8_t *bytes, size_t n)
{
    try {
        packed_section found = look_up(elf, name);
        if (found.is_packed)
            return wi_inflate_start(found.compression, found.raw, bytes, n);
        n = found.raw.size < n ? found.raw.size : n;
        if (n > 0)
            memcpy(bytes, found.raw.data, n);
        return n;
    } catch (...) {
        return 0;
    }
}

bool wi_elf_has_section(struct wi_elf *elf, const char *name)
{
    return find_section(elf, name) != nullptr;
}

bool wi_elf_has_zstd(const struct wi_elf *elf)
{
    try {
        for (const auto &section : elf->file.sections()) {
            uint32_t type = 0;
            if (!is_compressed(section) || section.size() < sizeof(Elf64_Chdr) || !section.data())
                continue;
            memcpy(&type, section.data(), sizeof type);
            if (type != ELFCOMPRESS_ZLIB)
                return true;
        }
    } catch (...) {
    }
    return false;
}

void wi_elf_debug_sections(struct wi_elf *elf, void (*visit)(const char *, struct wi_bytes, void *),
                           void *context)
{
    for (const auto &section : elf->file.sections()) {
        std::string name = name_of(section);
        if (!is_debug_name(name.c_str()))
            continue;
        if (name[1] == 'z')
            name.erase(1, 1);
        struct wi_bytes bytes = wi_elf_section(elf, name.c_str());
        if (bytes.data)
            visit(name.c_str(), bytes, context);
    }
}

size_t wi_elf_code(const struct wi_elf *elf, struct wi_span *spans, size_t max)
{
    size_t n = 0;
    for (const auto &section : elf->file.sections()) {
        const auto &header = section.get_hdr();
        bool runs = (static_cast<uint64_t>(header.flags) & SHF_EXECINSTR) != 0 && header.addr != 0;
        if (runs && n < max && header.size > 0 && header.addr + header.size > header.addr)
            spans[n++] = {header.addr, header.addr + header.size};
    }
    if (n > 0)
        return n;
    for (const auto &segment : elf->file.segments()) {
        const auto &header = segment.get_hdr();
        bool runs = header.type == elf::pt::load && (static_cast<uint32_t>(header.flags) & PF_X) != 0;
        if (runs && n < max && header.vaddr + header.memsz > header.vaddr)
            spans[n++] = {header.vaddr, header.vaddr + header.memsz};
    }
    return n;
}

size_t wi_elf_build_id(struct wi_elf *elf, uint8_t id[WI_BUILD_ID_MAX])
{
    struct wi_bytes notes = wi_elf_section(elf, ".note.gnu.build-id");
    size_t length = notes.data ? find_build_id(notes, id) : 0;
    if (length > 0)
        return length;
    try {
        for (const auto &segment : elf->file.segments()) {
            if (segment.get_hdr().type != elf::pt::note)
                continue;
            length = find_build_id({static_cast<const uint8_t *>(elf->loader->load(
                                        static_cast<off_t>(segment.get_hdr().offset), segment.file_size())),
                                    segment.file_size()},
                                   id);
            if (length > 0)
                return length;
        }
    } catch (...) {
    }
    return 0;
}

size_t wi_elf_symbols(struct wi_elf *elf, bool dynamic, void (*visit)(const struct wi_elf_symbol *, void *),
                      void *context)
{
    std::vector<wi_span> code(64);
    code.resize(wi_elf_code(elf, code.data(), code.size()));
    elf::sht wanted = dynamic ? elf::sht::dynsym : elf::sht::symtab;
    bool wide = elf->file.get_hdr().ei_class == elf::elfclass::_64;
    size_t entry = wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), n = 0;
    try {
        for (const auto &section : elf->file.sections()) {
            if (section.get_hdr().type != wanted || !section.data())
                continue;
            elf::strtab names =
                elf->file.get_section(static_cast<unsigned>(section.get_hdr().link)).as_strtab();
            const char *table = static_cast<const char *>(section.data());
            /* By count: libelfin's own iterator runs past a table that is no multiple of its entries. */
            for (size_t i = 0; i < section.size() / entry; i++) {
                elf::Sym<> raw = elf::sym(elf->file, table + i * entry, names).get_data();
                unsigned type = raw.info & 0xf;
                bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
                if (static_cast<unsigned>(raw.shnxd) == SHN_UNDEF || (!function && type != STT_NOTYPE) ||
                    !in_spans(code, raw.value))
                    continue;
                struct wi_elf_symbol symbol = {names.get(raw.name, nullptr), raw.value, raw.size, function,
                                               static_cast<uint8_t>(raw.info >> 4)};
                visit(&symbol, context);
                n++;
            }
        }
    } catch (...) {
    }
    return n;
}

/* ---- DWARF 2 to 4 ------------------------------------------------------------------------------------ */

namespace
{

constexpr size_t max_depth = 512, max_spans = 65536, max_origins = 16;
constexpr dwarf::DW_AT linkage_name_of_mips = static_cast<dwarf::DW_AT>(0x2007);
constexpr dwarf::DW_AT gnu_dwo_name = static_cast<dwarf::DW_AT>(0x2130);

/* Its unit is left to the next reader. */
struct refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class section_loader : public dwarf::loader
{
  public:
    explicit section_loader(struct wi_elf *source) : elf(source)
    {
    }
    const void *load(dwarf::section_type type, size_t *size) override
    {
        struct wi_bytes bytes = wi_elf_section(elf, dwarf::elf::section_type_to_name(type));
        *size = bytes.size;
        return bytes.data;
    }

  private:
    struct wi_elf *elf;
};

/* The length of a unit or line table, header included; 0 if it does not fit, or is in 64-bit DWARF, which is so rare
 * that it is left to the next reader. */
uint64_t checked_length(wi_bytes bytes, uint64_t at)
{
    uint32_t length;
    if (at > bytes.size || bytes.size - at < 16)
        return 0;
    memcpy(&length, bytes.data + at, sizeof length);
    return length > bytes.size - at - 4 || length < 7 ? 0 : uint64_t{length} + 4;
}

/* Of a compressed section the first unit is looked at first: decompressing all of it for nothing is slow. */
bool all_units_readable(struct wi_elf *elf)
{
    uint8_t start[6];
    if (wi_elf_section_start(elf, ".debug_info", start, sizeof start) < sizeof start || start[4] > 4)
        return false;
    struct wi_bytes info = wi_elf_section(elf, ".debug_info");
    for (uint64_t at = 0; at < info.size;) {
        uint64_t length = checked_length(info, at);
        if (length == 0)
            return false;
        uint16_t version;
        memcpy(&version, info.data + at + 4, sizeof version);
        if (version < 2 || version > 4)
            return false;
        at += length;
    }
    return info.size > 0;
}

class unit_walk
{
  public:
    unit_walk(struct wi_elf *source, struct wi_builder *target, const dwarf::compilation_unit &which,
              std::unordered_map<uint64_t, uint32_t> &known)
        : elf(source), builder(target), unit(which), functions(known),
          dies_left(checked_length(wi_elf_section(source, ".debug_info"), which.get_section_offset()))
    {
    }

    void read()
    {
        const dwarf::die &root = unit.root();
        if (root.has(gnu_dwo_name))
            throw refused("split");
        directory = text(root, dwarf::DW_AT::comp_dir);
        if (root.has(dwarf::DW_AT::stmt_list)) {
            uint64_t offset = root[dwarf::DW_AT::stmt_list].as_sec_offset();
            bool has_rows = check_line_table(offset);
            lines = unit.get_line_table();
            if (root.tag == dwarf::DW_TAG::compile_unit && has_rows &&
                wi_builder_new_line_table(builder, offset))
                read_lines();
        }
        read_children(root, WI_NONE, 0);
    }

  private:
    /* Refuses what libelfin would trip over. Whether there are any rows. */
    bool check_line_table(uint64_t offset)
    {
        struct wi_bytes bytes = wi_elf_section(elf, ".debug_line");
        uint64_t length = checked_length(bytes, offset);
        uint8_t version = length > 20 ? bytes.data[offset + 4] : 0;
        uint32_t header_length;
        if (version < 2 || version > 4 || bytes.data[offset + (version == 4 ? 15 : 14)] == 0)
            throw refused("line table");
        memcpy(&header_length, bytes.data + offset + 6, sizeof header_length);
        return uint64_t{header_length} + 10 < length;
    }

    std::string text(const dwarf::die &die, dwarf::DW_AT attribute)
    {
        return die.has(attribute) ? die[attribute].as_string() : std::string();
    }

    uint32_t file_number(uint64_t index)
    {
        if (!lines.valid() || index > UINT32_MAX)
            return WI_NONE;
        if (index >= files.size())
            files.resize(index < 65536 ? index + 1 : 65536, WI_NONE);
        if (index < files.size() && files[index] != WI_NONE)
            return files[index];
        uint32_t number = wi_builder_file(builder, directory.c_str(),
                                          lines.get_file(static_cast<unsigned>(index))->path.c_str());
        if (index < files.size())
            files[index] = number;
        return number;
    }

    /* An iterator that has reached the end still holds the last row, which a range-for would miss. */
    void read_lines()
    {
        const auto end = lines.end();
        for (auto row = lines.begin();; ++row) {
            if (row->end_sequence)
                wi_builder_end_sequence(builder, row->address);
            else
                wi_builder_row(builder, row->address, file_number(row->file_index), row->line);
            if (row == end)
                break;
        }
    }

    void read_children(const dwarf::die &parent, uint32_t node, size_t depth)
    {
        if (depth > max_depth)
            throw refused("too deep");
        for (const auto &child : parent) {
            if (dies_left-- == 0)
                throw refused("more entries than bytes");
            read_die(child, node, depth);
        }
    }

    void read_die(const dwarf::die &die, uint32_t node, size_t depth)
    {
        switch (die.tag) {
        case dwarf::DW_TAG::subprogram:
            read_function(die, WI_NONE, depth);
            break;
        case dwarf::DW_TAG::inlined_subroutine:
            if (node != WI_NONE)
                read_function(die, node, depth);
            break;
        case dwarf::DW_TAG::lexical_block:
        case dwarf::DW_TAG::try_block:
        case dwarf::DW_TAG::catch_block:
        case dwarf::DW_TAG::with_stmt:
        case dwarf::DW_TAG::namespace_:
        case dwarf::DW_TAG::module:
            read_children(die, node, depth + 1);
            break;
        default:
            break; /* types and variables: the bulk, and nothing to do with code */
        }
    }

    void read_function(const dwarf::die &die, uint32_t parent, size_t depth)
    {
        std::vector<wi_span> spans = spans_of(die);
        if (spans.empty())
            return;
        uint32_t call_file = WI_NONE;
        if (parent != WI_NONE && die.has(dwarf::DW_AT::call_file))
            call_file = file_number(die[dwarf::DW_AT::call_file].as_uconstant());
        uint64_t call_line = 0;
        if (parent != WI_NONE && die.has(dwarf::DW_AT::call_line))
            call_line = die[dwarf::DW_AT::call_line].as_uconstant();
        uint32_t node = wi_builder_node(builder, parent, function_of(die), call_file,
                                        static_cast<uint32_t>(call_line), spans.data(), spans.size());
        if (node != WI_NONE)
            read_children(die, node, depth + 1);
    }

    std::vector<wi_span> spans_of(const dwarf::die &die)
    {
        std::vector<wi_span> spans;
        if (die.has(dwarf::DW_AT::ranges)) {
            for (const auto &range : die[dwarf::DW_AT::ranges].as_rangelist()) {
                spans.push_back({range.low, range.high});
                if (spans.size() > max_spans)
                    throw refused("too many ranges");
            }
        } else if (die.has(dwarf::DW_AT::low_pc) && die.has(dwarf::DW_AT::high_pc)) {
            uint64_t low = die[dwarf::DW_AT::low_pc].as_address();
            dwarf::value high = die[dwarf::DW_AT::high_pc];
            bool absolute = high.get_form() == dwarf::DW_FORM::addr;
            spans.push_back({low, absolute ? high.as_address() : low + high.as_uconstant()});
        }
        return spans;
    }

    /* libelfin finds another unit by walking the list of all, and its file numbers mean other files. */
    dwarf::die follow(const dwarf::value &reference)
    {
        if (reference.get_form() == dwarf::DW_FORM::ref_addr)
            throw refused("reference to another unit");
        return reference.as_reference();
    }

    /* A copy refers to the function it is a copy of, and that to its declaration; each adds what it knows. */
    uint32_t function_of(const dwarf::die &die)
    {
        dwarf::die origin = die;
        std::string name, linkage_name;
        uint64_t file = 0, line = 0, first = 0;
        for (size_t hop = 0; hop < max_origins; hop++) {
            if (hop == 1 && linkage_name.empty()) { /* variants of a destructor have names of their own */
                first = origin.get_section_offset();
                auto known = functions.find(first);
                if (known != functions.end())
                    return known->second;
            }
            if (name.empty())
                name = text(origin, dwarf::DW_AT::name);
            if (linkage_name.empty())
                linkage_name = text(origin, dwarf::DW_AT::linkage_name);
            if (linkage_name.empty())
                linkage_name = text(origin, linkage_name_of_mips);
            if (file == 0 && origin.has(dwarf::DW_AT::decl_file))
                file = origin[dwarf::DW_AT::decl_file].as_uconstant();
            if (line == 0 && origin.has(dwarf::DW_AT::decl_line))
                line = origin[dwarf::DW_AT::decl_line].as_uconstant();
            if (origin.has(dwarf::DW_AT::abstract_origin))
                origin = follow(origin[dwarf::DW_AT::abstract_origin]);
            else if (origin.has(dwarf::DW_AT::specification))
                origin = follow(origin[dwarf::DW_AT::specification]);
            else
                break;
        }
        struct wi_function_facts facts = {name.empty() ? nullptr : name.c_str(),
                                          linkage_name.empty() ? nullptr : linkage_name.c_str(),
                                          file ? file_number(file) : WI_NONE, static_cast<uint32_t>(line)};
        uint32_t number = wi_builder_function(builder, &facts);
        if (first != 0)
            functions[first] = number;
        return number;
    }

    struct wi_elf *elf;
    struct wi_builder *builder;
    const dwarf::compilation_unit &unit;
    std::unordered_map<uint64_t, uint32_t> &functions; /* by the offset of the entry that copies refer to */
    uint64_t dies_left;
    std::string directory;
    dwarf::line_table lines;
    std::vector<uint32_t> files;
};

int read_units(struct wi_elf *elf, struct wi_builder *builder)
{
    dwarf::dwarf file(std::make_shared<section_loader>(elf));
    auto &units = const_cast<std::vector<dwarf::compilation_unit> &>(file.compilation_units());
    std::unordered_map<uint64_t, uint32_t> functions;
    for (const auto &unit : units) {
        if (!wi_builder_unit_begin(builder, unit.get_section_offset()))
            continue;
        try {
            unit_walk(elf, builder, unit, functions).read();
            wi_builder_unit_commit(builder);
        } catch (...) {
            wi_builder_unit_abandon(builder);
        }
    }
    units.clear(); /* they refer to the file, and it to them */
    return 0;
}

int read_with_elfin(const struct wi_reader_input *input, struct wi_builder *builder)
{
    if (input->alt_path || !all_units_readable(input->elf))
        return -ENOTSUP;
    try {
        return read_units(input->elf, builder);
    } catch (...) {
        return -EBADMSG;
    }
}

} // namespace

const struct wi_reader wi_elfin_reader = {"libelfin", read_with_elfin};
