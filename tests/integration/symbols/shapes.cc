/* SPDX-License-Identifier: BSD-2-Clause */
/* Of symbols-matrix.t: templates, overloads, lambdas, an anonymous namespace, the standard library. */
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace app {
struct Item {
    int key;
    std::string name;
    Item(int k, std::string n) : key(k), name(std::move(n)) {}
    bool operator<(const Item &o) const { return key < o.key; }
};
template <typename T> struct Box {
    std::vector<T> items;
    void add(T t) { items.push_back(std::move(t)); }
    long sum() const {
        long s = 0;
        for (auto &i : items)
            s += i.key;
        return s;
    }
};
class Engine {
public:
    virtual ~Engine() = default;
    virtual long run(int n);
    static int scale(int x);
    static int scale(double x);
    Box<Item> box;
};
__attribute__((noinline)) int Engine::scale(int x) { return x * 3; }
__attribute__((noinline)) int Engine::scale(double x) { return (int)(x * 3.5); }
long Engine::run(int n)
{
    for (int i = 0; i < n; i++)
        box.add(Item(scale(i) % 17 + scale(i * 0.5), "n" + std::to_string(i)));
    std::sort(box.items.begin(), box.items.end(), [](const Item &a, const Item &b) { return a.name < b.name; });
    std::map<std::string, int> m;
    for (auto &i : box.items)
        m[i.name] += i.key;
    long t = 0;
    for (auto &p : m)
        t += p.second;
    return t + box.sum();
}
}
namespace {
struct Hidden { int f(int x) __attribute__((noinline)); };
int Hidden::f(int x) { return x + 42; }
}
static __attribute__((noinline)) int helper(int x) { return Hidden().f(x) ^ 7; }
int main(int argc, char **argv)
{
    auto e = std::make_unique<app::Engine>();
    printf("%ld\n", e->run(argc * 1000) + helper(argc));
    return 0;
}
