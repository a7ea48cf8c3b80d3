#include <cstdio>
#include <stdexcept>

static void thrower(int number) {
    try {
        throw std::runtime_error("broken"); /* throw */
    } catch (std::exception &caught) {
        std::printf("%d %s\n", number, caught.what());
    }
}

int main() {
    thrower(1);
    thrower(2);
}
