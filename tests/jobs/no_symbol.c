/* no_symbol - a shared object, but no plug-in: must be refused. */
__attribute__((visibility("default"))) int something_else(void);

int something_else(void)
{
    return 42;
}
