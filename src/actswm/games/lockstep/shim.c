/* Lockstep for an unmodified game: preloaded into the engine, it stops the game after every frame.
 *
 *   clock    time stands still between frames and advances only by what the host asks for
 *   frame    each finished frame goes to the host as RGB, and the engine waits for the host's word
 *   input    keys and mouse motion come from the host and reach the very next frame
 *   server   a game server thread in the same process runs exactly one tick a frame (server.h)
 *   network  sockets bind to the loopback address only
 *
 * Host and engine share one block of memory, `struct gate`; gate.py has the same layout. Without
 * ACTSWM_GATE_FD in the environment every function just calls the real one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MAX_INPUTS 64
#define MAX_TELEMETRY 32
#define COMMAND_BYTES (1 << 18)
#define EVENT_BYTES (1 << 18)

typedef union { sem_t sem; char room[64]; } semaphore;

struct input { uint32_t key; uint32_t pressed; }; /* key: an X keysym, which for ASCII is SDL's keycode too */

struct gate {
    uint32_t layout;         /* sizeof(struct gate), written by the shim once it is in place */
    uint32_t lockstep;       /* host: 0 = the engine runs freely, 1 = it stops after every frame */
    uint32_t width, height;  /* host: size of the window */
    uint32_t wall_clock;     /* host: 1 = gettimeofday is the game's clock, too */
    uint64_t clock_ns;       /* host: game time since lockstep began */
    uint64_t frames;         /* shim: frames finished since the engine started */
    uint64_t stops;          /* shim: frames after which it has stopped */
    uint64_t passed;         /* host: stops that it may leave; the engine rests while it has made more */
    uint64_t stop_ns;        /* shim: game time at its last stop */
    uint64_t ticks;          /* shim: ticks of the server */
    int32_t mouse_x, mouse_y;
    uint32_t input_count, command_length;
    struct input inputs[MAX_INPUTS];
    semaphore drawn, go;     /* `stops` or `passed` may have changed */
    double telemetry[MAX_TELEMETRY];
    uint64_t event_head;     /* bytes ever written to `events`, a ring of lines */
    char events[EVENT_BYTES];
    char command[COMMAND_BYTES];
    uint8_t pixels[];        /* RGB, top row first */
};

static struct gate *gate;

#define REAL(name) ({                                                          \
    static __typeof__(&name) real_;                                            \
    if (!real_) real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);            \
    real_; })

__attribute__((constructor)) static void attach(void)
{
    const char *descriptor = getenv("ACTSWM_GATE_FD"), *size = getenv("ACTSWM_GATE_SIZE");
    if (!descriptor || !size) return;
    void *memory = mmap(NULL, strtoul(size, NULL, 10), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(descriptor), 0);
    if (memory == MAP_FAILED) return;
    gate = memory;
    gate->layout = sizeof(struct gate);
}

static int locked(void) { return gate && __atomic_load_n(&gate->lockstep, __ATOMIC_ACQUIRE); }

static void wait_for(sem_t *sem)
{
    while (REAL(sem_wait)(sem) == -1 && errno == EINTR) {}
}

/* ---- clock ---- */

static uint64_t game_time(uint64_t now, uint64_t *epoch)
{
    if (!locked()) return now;
    uint64_t unset = 0;
    __atomic_compare_exchange_n(epoch, &unset, now, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return *epoch + __atomic_load_n(&gate->clock_ns, __ATOMIC_ACQUIRE);
}

/* The other clocks serve timeouts of locks, which must stay real. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static uint64_t epoch;
    int status = REAL(clock_gettime)(clock, time);
    if (gate && clock == CLOCK_MONOTONIC_RAW) {
        uint64_t now = game_time(time->tv_sec * 1000000000ull + time->tv_nsec, &epoch);
        time->tv_sec = now / 1000000000ull;
        time->tv_nsec = now % 1000000000ull;
    }
    return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    static uint64_t epoch;
    int status = REAL(gettimeofday)(time, zone);
    if (gate && gate->wall_clock) {
        uint64_t now = game_time(time->tv_sec * 1000000000ull + time->tv_usec * 1000ull, &epoch);
        time->tv_sec = now / 1000000000ull;
        time->tv_usec = now % 1000000000ull / 1000;
    }
    return status;
}

/* Engines seed themselves with it, and Minetest takes its server's port from that seed: two engines that start in
 * the same second would meet. Nothing else hangs on it but the dates in their logs. */
time_t time(time_t *result)
{
    time_t now = REAL(time)(NULL) + (gate ? getpid() : 0);
    if (result) *result = now;
    return now;
}

/* ---- network ---- */

int bind(int socket, const struct sockaddr *address, socklen_t length)
{
    struct sockaddr_storage local = {0};
    if (!gate || length > sizeof local) return REAL(bind)(socket, address, length);
    memcpy(&local, address, length);
    if (local.ss_family == AF_INET) ((struct sockaddr_in *)&local)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (local.ss_family == AF_INET6) ((struct sockaddr_in6 *)&local)->sin6_addr = in6addr_loopback;
    return REAL(bind)(socket, (struct sockaddr *)&local, length);
}

#include "server.h"

/* ---- frame ---- */

static void copy_frame(void)
{
    static void (*read_pixels)(int, int, int, int, unsigned, unsigned, void *);
    static uint8_t *bgra;
    int width = gate->width, height = gate->height;
    if (!read_pixels) {
        void *(*lookup)(const char *) = dlsym(RTLD_DEFAULT, "SDL_GL_GetProcAddress");
        read_pixels = dlsym(RTLD_DEFAULT, "glReadPixels");
        if (!read_pixels && lookup) read_pixels = lookup("glReadPixels");
        bgra = malloc((size_t)width * height * 4);
        if (!read_pixels || !bgra) abort();
    }
    read_pixels(0, 0, width, height, 0x80E1 /* GL_BGRA */, 0x1401 /* GL_UNSIGNED_BYTE */, bgra);
    for (int row = 0; row < height; row++) {
        const uint8_t *from = bgra + (size_t)(height - 1 - row) * width * 4;
        uint8_t *to = gate->pixels + (size_t)row * width * 3;
        for (int column = 0; column < width; column++, from += 4, to += 3) {
            to[0] = from[2];
            to[1] = from[1];
            to[2] = from[0];
        }
    }
}

/* Called instead of showing a finished frame. Returns 0 when the frame is to be shown as usual. */
static int stop_at_frame(void)
{
    if (!gate) return 0;
    gate->frames++;
    if (!locked()) return 0;
    start_tick();  /* runs while the software renderer still finishes the frame */
    copy_frame();
    await_tick();
    gate->stop_ns = gate->clock_ns;
    uint64_t stop = __atomic_add_fetch(&gate->stops, 1, __ATOMIC_ACQ_REL);
    sem_post(&gate->drawn.sem);
    while (__atomic_load_n(&gate->passed, __ATOMIC_ACQUIRE) < stop) wait_for(&gate->go.sem);
    return 1;
}

#include "input.h"

void glXSwapBuffers(Display *display, unsigned long drawable)
{
    if (stop_at_frame()) push_x11_input(display, drawable);
    else REAL(glXSwapBuffers)(display, drawable);
}

void SDL_GL_SwapWindow(void *window)
{
    if (stop_at_frame()) push_sdl_input();
    else REAL(SDL_GL_SwapWindow)(window);
}
