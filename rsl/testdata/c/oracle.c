/* oracle.c - parses and evaluates requests with the C library libglobus_rsl.
 *
 * Each request on standard input is a line with its length and that many bytes. For each, the
 * program writes a line with 1 or 0, whether it is valid, and two texts: the canonical one before and
 * after the evaluation. A text is a line with its length and that many bytes; -1 is a failure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <globus_common.h>
#include <globus_rsl.h>
#include <globus_rsl_assist.h>

static void answer(const char *text)
{
    if (text == NULL) {
        printf("-1\n");
        return;
    }
    printf("%zu\n", strlen(text));
    fwrite(text, 1, strlen(text), stdout);
}

static void ask(char *request)
{
    globus_symboltable_t symbols;
    globus_rsl_t *spec = globus_rsl_parse(request);
    char *text = spec == NULL ? NULL : globus_rsl_unparse(spec);

    printf("%d\n", spec != NULL);
    answer(text);
    free(text);
    if (spec == NULL) {
        answer(NULL);
        return;
    }
    globus_symboltable_init(&symbols, globus_hashtable_string_hash, globus_hashtable_string_keyeq);
    globus_symboltable_create_scope(&symbols);
    globus_symboltable_insert(&symbols, "HOME", "/home/u");
    globus_symboltable_insert(&symbols, "ROOT", "/r");
    globus_symboltable_insert(&symbols, "LEAF", "z");
    if (globus_rsl_assist_attributes_canonicalize(spec) != 0 || globus_rsl_eval(spec, &symbols) != 0) {
        answer(NULL);
    } else {
        text = globus_rsl_unparse(spec);
        answer(text);
        free(text);
    }
    /* The tree is not freed: the library frees some nodes twice after a failed evaluation. */
}

int main(void)
{
    long length;

    if (globus_module_activate(GLOBUS_COMMON_MODULE) != GLOBUS_SUCCESS) {
        fprintf(stderr, "the library does not start\n");
        return 1;
    }
    while (scanf("%ld", &length) == 1 && getchar() == '\n') {
        char *request = calloc(length + 1, 1);
        if (request == NULL || fread(request, 1, length, stdin) != (size_t)length) {
            return 1;
        }
        ask(request);
        free(request);
    }
    return 0;
}
