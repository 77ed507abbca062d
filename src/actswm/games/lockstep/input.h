/* Input of the host, handed to the engine's own event queue: no focus, no window manager, no delay. */
#ifndef ACTSWM_INPUT_H
#define ACTSWM_INPUT_H

/* ---- engines on Xlib (declared here, so that building needs no X headers) ---- */

typedef struct x11_display Display;
typedef unsigned long Window;

struct x11_key_event { /* XKeyEvent; an XEvent has room for 24 longs */
    int type;
    unsigned long serial;
    int send_event;
    Display *display;
    Window window, root, subwindow;
    unsigned long time;
    int x, y, root_x, root_y;
    unsigned state, keycode;
    int same_screen;
    long room[24];
};
enum { X11_KEY_PRESS = 2, X11_KEY_RELEASE = 3, X11_FOCUS_IN = 9 };

static void put_back(Display *display, Window window, int type, unsigned keycode)
{
    static int (*real)(Display *, void *);
    if (!real) real = dlsym(RTLD_DEFAULT, "XPutBackEvent");
    struct x11_key_event event = {
        .type = type, .display = display, .window = window, .keycode = keycode, .same_screen = 1};
    real(display, &event);
}

static void push_x11_input(Display *display, Window window)
{
    static uint8_t (*keycode)(Display *, unsigned long);
    static int focused;
    if (!keycode) keycode = dlsym(RTLD_DEFAULT, "XKeysymToKeycode");
    for (int i = (int)gate->input_count - 1; i >= 0; i--) { /* each goes to the head of the queue */
        int type = gate->inputs[i].pressed ? X11_KEY_PRESS : X11_KEY_RELEASE;
        put_back(display, window, type, keycode(display, gate->inputs[i].key));
    }
    gate->input_count = 0;
    if (!focused) put_back(display, window, X11_FOCUS_IN, 0);
    focused = 1;
}

/* The engine measures how far the pointer is from where it last put it: that is the host's motion. */
static int pointer_x, pointer_y;

int XQueryPointer(Display *display, Window window, Window *root, Window *child, int *root_x, int *root_y,
                  int *x, int *y, unsigned *mask)
{
    if (!locked()) return REAL(XQueryPointer)(display, window, root, child, root_x, root_y, x, y, mask);
    *x = pointer_x + gate->mouse_x;
    *y = pointer_y + gate->mouse_y;
    *mask = 0;
    return 1;
}

static void pointer_put(int x, int y)
{
    pointer_x = x;
    pointer_y = y;
    if (gate) gate->mouse_x = gate->mouse_y = 0;
}

int XWarpPointer(Display *display, Window from, Window to, int from_x, int from_y, unsigned from_width,
                 unsigned from_height, int x, int y)
{
    pointer_put(x, y);
    if (locked()) return 1;
    return REAL(XWarpPointer)(display, from, to, from_x, from_y, from_width, from_height, x, y);
}

int XIWarpPointer(Display *display, int device, Window from, Window to, double from_x, double from_y,
                  unsigned from_width, unsigned from_height, double x, double y)
{
    pointer_put((int)x, (int)y);
    if (locked()) return 1;
    return REAL(XIWarpPointer)(display, device, from, to, from_x, from_y, from_width, from_height, x, y);
}

/* ---- engines on SDL 2 ---- */

struct sdl_key_event { /* SDL_KeyboardEvent; SDL_Event has room for 56 bytes */
    uint32_t type, timestamp, window;
    uint8_t state, repeat, padding[2];
    int32_t scancode, key;
    uint16_t modifiers;
    char room[64];
};

static void push_sdl_input(void)
{
    static int (*push)(void *);
    if (!push) push = dlsym(RTLD_DEFAULT, "SDL_PushEvent");
    for (uint32_t i = 0; i < gate->input_count; i++) {
        struct sdl_key_event event = {0};
        event.type = gate->inputs[i].pressed ? 0x300 : 0x301; /* SDL_KEYDOWN, SDL_KEYUP */
        event.state = gate->inputs[i].pressed;
        event.key = gate->inputs[i].key;
        push(&event);
    }
    gate->input_count = 0;
}

#endif
