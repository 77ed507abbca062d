/* A game server that is a thread of the engine: one tick a frame, with the frame's own messages.
 *
 * The server thread waits for network messages between ticks. In lockstep it is held in that wait until a frame
 * is finished and everything the frame sent has arrived; then it reads the messages, ticks once and is held
 * again. So what the server knows and when does not depend on how the system schedules threads.
 */
#ifndef ACTSWM_SERVER_H
#define ACTSWM_SERVER_H

#define MAX_WORKERS 64

static sem_t tick_go, tick_done;
static int server_known;
static __thread int is_server;

__attribute__((constructor)) static void prepare_ticks(void)
{
    sem_init(&tick_go, 0, 0);
    sem_init(&tick_done, 0, 0);
}

/* ---- is any other thread still busy: with messages, or with what it was told to compute? ---- */

struct worker { int waiting, exempt, socket; sem_t *queue; };
static struct worker workers[MAX_WORKERS];
static int worker_count;
static __thread struct worker *self;

static struct worker *worker(void)
{
    if (!self) {
        int index = __atomic_fetch_add(&worker_count, 1, __ATOMIC_ACQ_REL);
        if (index >= MAX_WORKERS) abort();
        self = &workers[index];
    }
    return self;
}

static int all_wait(void)
{
    int count = __atomic_load_n(&worker_count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < count; i++) {
        struct worker *other = &workers[i];
        int pending = 0;
        if (other->exempt) continue;
        if (!__atomic_load_n(&other->waiting, __ATOMIC_ACQUIRE)) return 0;
        if (other->queue) sem_getvalue(other->queue, &pending);
        else ioctl(other->socket, FIONREAD, &pending);
        if (pending > 0) return 0;
    }
    return 1;
}

static void await_workers(void)
{
    struct timespec pause = {0, 50000};
    for (int quiet = 0, tries = 0; quiet < 2 && tries < 2000; tries++) {
        quiet = all_wait() ? quiet + 1 : 0; /* twice: a thread may be between waking and saying so */
        if (!quiet) nanosleep(&pause, NULL);
    }
}

#define WHILE_WAITING(what, call) ({                                           \
    struct worker *waiter_ = worker();                                         \
    waiter_->queue = (what);                                                   \
    __atomic_store_n(&waiter_->waiting, 1, __ATOMIC_RELEASE);                  \
    int status_ = (call), error_ = errno;                                      \
    __atomic_store_n(&waiter_->waiting, 0, __ATOMIC_RELEASE);                  \
    errno = error_;                                                            \
    status_; })

ssize_t recvfrom(int socket, void *restrict data, size_t size, int flags, struct sockaddr *restrict from,
                 socklen_t *restrict length)
{
    if (gate) worker()->socket = socket;
    return REAL(recvfrom)(socket, data, size, flags, from, length);
}

int select(int count, fd_set *restrict read, fd_set *restrict write, fd_set *restrict except,
           struct timeval *restrict timeout)
{
    if (!self || !self->socket) return REAL(select)(count, read, write, except, timeout);
    return WHILE_WAITING(NULL, REAL(select)(count, read, write, except, timeout));
}

int sem_wait(sem_t *sem)
{
    if (!gate) return REAL(sem_wait)(sem);
    return WHILE_WAITING(sem, REAL(sem_wait)(sem));
}

/* As against a mere look whether there is another message. */
static int is_long_wait(const struct timespec *deadline)
{
    struct timespec now;
    REAL(clock_gettime)(CLOCK_REALTIME, &now);
    return (deadline->tv_sec - now.tv_sec) * 1000000000ll + (deadline->tv_nsec - now.tv_nsec) > 1000000;
}

int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict deadline)
{
    if (!gate) return REAL(sem_timedwait)(sem, deadline);
    if (is_server && locked() && is_long_wait(deadline)) {
        sem_post(&tick_done);
        wait_for(&tick_go);
        if (sem_trywait(sem) == 0) return 0;
        errno = ETIMEDOUT;
        return -1;
    }
    return WHILE_WAITING(sem, REAL(sem_timedwait)(sem, deadline));
}

/* ---- called at the end of each frame ---- */

static void start_tick(void)
{
    static int held;
    if (!server_known) return;
    worker()->exempt = 1;
    if (!held) wait_for(&tick_done);
    held = 1;
    await_workers();
    sem_post(&tick_go);
}

static void await_tick(void)
{
    if (!server_known) return;
    wait_for(&tick_done);
    await_workers();
}

/* ---- called by the server's scripts ---- */

void actswm_tick(void)
{
    if (!gate) return;
    is_server = server_known = 1;
    worker()->exempt = 1;
    gate->ticks++;
}

double *actswm_telemetry(void) { return gate->telemetry; }

void actswm_emit(const char *line)
{
    uint64_t head = gate->event_head;
    for (; *line; line++) gate->events[head++ % EVENT_BYTES] = *line;
    gate->events[head++ % EVENT_BYTES] = '\n';
    __atomic_store_n(&gate->event_head, head, __ATOMIC_RELEASE);
}

const char *actswm_command(void)
{
    if (!__atomic_load_n(&gate->command_length, __ATOMIC_ACQUIRE)) return NULL;
    gate->command[gate->command_length] = 0;
    gate->command_length = 0;
    return gate->command;
}

#endif
