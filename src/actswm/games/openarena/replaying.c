/* Replay of a demo by a stock ioquake3: preloaded before the lockstep shim, it watches how much of the demo the
 * engine has read when it finishes a frame, and draws that number into the frame's first and last rows.
 *
 * The engine reads the demo one message at a time, just as far as the picture needs, so the position in the file says
 * which tick a frame shows. Host and engine share a small file, `struct board`; replay_board.py has the same layout.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LOG_FRAMES (1 << 16)
#define STRIP_ROWS 8
#define CODE_BITS 28
#define CELLS (CODE_BITS + 8 + 2) /* the number, its check, and a white and a black cell to begin with */

struct board {
    uint32_t layout;        /* sizeof(struct board), written once the library is in place */
    uint32_t width, height; /* host: size of the window */
    uint32_t marker;        /* host: 1 = draw the marker */
    uint32_t keep_log;      /* host: 1 = fill `log` */
    uint64_t frames;        /* frames finished since the engine started */
    uint64_t position;      /* bytes of the demo that had been read for the last frame */
    struct { uint64_t position, hash; } log[LOG_FRAMES]; /* per frame; `hash` is of the pixels without the strips */
};

static struct board *board;
static FILE *demo;

#define REAL(name) ({                                                          \
    static __typeof__(&name) real_;                                            \
    if (!real_) real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);            \
    real_; })

__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv("ACTSWM_REPLAY_BOARD");
    int descriptor = path ? open(path, O_RDWR) : -1;
    if (descriptor < 0) return;
    void *memory = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return;
    board = memory;
    board->layout = sizeof(struct board);
}

static FILE *noticed(FILE *file, const char *path, const char *mode)
{
    if (file && board && *mode == 'r' && strstr(path, "/demos/")) demo = file;
    return file;
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
    return noticed(REAL(fopen)(path, mode), path, mode);
}

FILE *fopen64(const char *restrict path, const char *restrict mode)
{
    return noticed(REAL(fopen64)(path, mode), path, mode);
}

int fclose(FILE *file)
{
    if (file == demo) demo = NULL;
    return REAL(fclose)(file);
}

/* ---- drawing: only what every OpenGL has, and every state put back ---- */

enum { SCISSOR_TEST = 0x0C11, SCISSOR_BOX = 0x0C10, CLEAR_COLOR = 0x0C22, COLOR_BUFFER = 0x4000, COLOR_MASK = 0x0C23 };

static struct {
    void (*Enable)(unsigned), (*Disable)(unsigned), (*Scissor)(int, int, int, int), (*Clear)(unsigned);
    void (*ClearColor)(float, float, float, float), (*ColorMask)(uint8_t, uint8_t, uint8_t, uint8_t);
    void (*GetIntegerv)(unsigned, int *), (*GetFloatv)(unsigned, float *), (*GetBooleanv)(unsigned, uint8_t *);
    uint8_t (*IsEnabled)(unsigned);
    void (*ReadPixels)(int, int, int, int, unsigned, unsigned, void *);
} gl;

static void *function(const char *name)
{
    void *(*lookup)(const char *) = dlsym(RTLD_DEFAULT, "SDL_GL_GetProcAddress");
    void *found = lookup ? lookup(name) : NULL;
    if (!found) abort();
    return found;
}

static void load_gl(void)
{
    if (gl.Clear) return;
#define LOAD(name) gl.name = function("gl" #name)
    LOAD(Enable); LOAD(Disable); LOAD(Scissor); LOAD(ClearColor); LOAD(ColorMask); LOAD(GetIntegerv);
    LOAD(GetFloatv); LOAD(GetBooleanv); LOAD(IsEnabled); LOAD(ReadPixels); LOAD(Clear);
}

static void rectangle(int x, int y, int width, int height, int white)
{
    float level = white ? 1.0f : 0.0f;
    gl.Scissor(x, y, width, height);
    gl.ClearColor(level, level, level, 1.0f);
    gl.Clear(COLOR_BUFFER);
}

/* The check is a sum over the number's bytes that no run of equal cells satisfies. */
static uint32_t check_of(uint32_t number)
{
    uint32_t sum = 0xA5;
    for (int shift = 0; shift < 32; shift += 8) sum = (sum * 31 + (number >> shift & 0xFF)) & 0xFF;
    return sum;
}

static void draw_marker(uint32_t number)
{
    int box[4], height = board->height, cell = board->width / CELLS;
    float color[4];
    uint8_t mask[4], scissored = gl.IsEnabled(SCISSOR_TEST);
    gl.GetIntegerv(SCISSOR_BOX, box);
    gl.GetFloatv(CLEAR_COLOR, color);
    gl.GetBooleanv(COLOR_MASK, mask);
    gl.Enable(SCISSOR_TEST);
    gl.ColorMask(1, 1, 1, 1);
    uint64_t bits = 1 | (uint64_t)(number & ((1u << CODE_BITS) - 1)) << 2 | (uint64_t)check_of(number) << (2 + CODE_BITS);
    for (int strip = 0; strip < 2; strip++) {
        int y = strip ? 0 : height - STRIP_ROWS;
        rectangle(0, y, board->width, STRIP_ROWS, 0);
        for (int i = 0; i < CELLS; i++)
            if (bits >> i & 1) rectangle(i * cell, y, cell, STRIP_ROWS, 1);
    }
    gl.Scissor(box[0], box[1], box[2], box[3]);
    gl.ClearColor(color[0], color[1], color[2], color[3]);
    gl.ColorMask(mask[0], mask[1], mask[2], mask[3]);
    if (!scissored) gl.Disable(SCISSOR_TEST);
}

/* FNV-1a over the RGB bytes, bottom row first. */
static uint64_t hash_pixels(void)
{
    static uint8_t *pixels;
    int width = board->width, height = board->height - 2 * STRIP_ROWS;
    if (!pixels) pixels = malloc((size_t)width * height * 4);
    if (!pixels || height <= 0) return 0;
    gl.ReadPixels(0, STRIP_ROWS, width, height, 0x80E1 /* GL_BGRA */, 0x1401 /* GL_UNSIGNED_BYTE */, pixels);
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < (size_t)width * height * 4; i++)
        if (i % 4 != 3) hash = (hash ^ pixels[i]) * 0x100000001b3ull;
    return hash;
}

void SDL_GL_SwapWindow(void *window)
{
    if (board) {
        load_gl();
        uint64_t position = demo ? (uint64_t)ftello(demo) : 0;
        if (board->keep_log) {
            board->log[board->frames % LOG_FRAMES].hash = hash_pixels();
            board->log[board->frames % LOG_FRAMES].position = position;
        }
        if (board->marker) draw_marker((uint32_t)position);
        board->position = position;
        __atomic_add_fetch(&board->frames, 1, __ATOMIC_ACQ_REL);
    }
    void (*next)(void *) = dlsym(RTLD_NEXT, "SDL_GL_SwapWindow");
    next(window);
}
