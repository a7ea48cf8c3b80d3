#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <pthread.h>

struct point {
    int x, y;
    char name[8];
    struct point *next;
};

int counter;

static int add(int a, int b) {
    int sum = a + b;
    counter += sum; /* in add */
    return sum;
}

static void *work(void *argument) {
    int count = *(int *)argument;
    for (int i = 0; i < count; i++)
        add(i, count); /* in work */
    return NULL;
}

int main(int argc, char **argv) {
    struct point other = {7, 8, "other", NULL};
    struct point first = {1, 2, "first", &other};
    int list[5] = {1, 2, 3, 4, 5};
    static int large[100000];
    double ratio = 0.5;
    int count = 3;
    pthread_t thread;
    large[99999] = argc;
    if (argc > 1) { /* begin */
        pthread_create(&thread, NULL, work, &count);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 5; i++) {
        first.x = add(first.x, list[i]); /* in the loop */
        ratio += first.x;
    }
    printf("%d %g\n", first.x, ratio);
    fflush(stdout);
    if (argc > 2)
        *(volatile int *)0 = 1; /* fault */
    while (argv[0][0] == 'X')
        sleep(1);
    return 7;
}
