// SPDX-License-Identifier: MIT
//
// members.cpp - the same in C++; what the locks are to be called stands behind
// "name:".
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#define NOINLINE __attribute__((noinline))

static std::mutex anchor;

template <class Lock> static NOINLINE void ring(Lock &m)
{
    anchor.lock();
    m.lock();
    m.unlock();
    anchor.unlock();
    m.lock();
    anchor.lock();
    anchor.unlock();
    m.unlock();
}

// Its first request is in the lambda, under the static lock.
template <class F> static NOINLINE void first(F f)
{
    anchor.lock();
    f();
    anchor.unlock();
}

namespace net
{
class Base
{
  public:
    std::mutex base_;
};

class Session : public Base
{
  public:
    int n = 0;
    std::mutex mutex_;
    std::recursive_mutex again_;
    std::shared_mutex files_;

    NOINLINE void guard()
    {
        std::lock_guard<std::mutex> guard(mutex_); // name: net::Session::mutex_
        n++;
    }
    NOINLINE void unique()
    {
        std::unique_lock l{ this->again_ }; // name: net::Session::again_
        n++;
    }
    NOINLINE void scoped()
    {
        std::scoped_lock lock(files_); // name: net::Session::files_
        n++;
    }
    NOINLINE void plain()
    {
        mutex_.lock(); // name: net::Session::mutex_
        n++;
        mutex_.unlock();
    }
    NOINLINE void inherited()
    {
        std::lock_guard<std::mutex> guard(base_); // name: net::Base::base_
        n++;
    }
    NOINLINE void captured()
    {
        first([this] {
            std::lock_guard<std::mutex> guard(mutex_);
            n++;
        }); // name: net::Session::mutex_
    }
};
} // namespace net

template <class T> class Cache
{
  public:
    std::mutex mutex_;
    T value{};
    NOINLINE void put(T v)
    {
        std::lock_guard<std::mutex> guard(mutex_); // name: Cache<int>::mutex_
        value = v;
    }
};

class Queue
{
  public:
    std::mutex mutex_;
    int n = 0;
    NOINLINE void push(int v)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        n += v;
    }
};

struct Account {
    std::mutex m;
    int n = 0;
};

class Bank
{
  public:
    std::vector<Account> accounts_ = std::vector<Account>(4);
    std::unique_ptr<Account> spare_ = std::make_unique<Account>();
    Queue inbox_;
    int n = 0;
    NOINLINE void element(int i)
    {
        std::lock_guard<std::mutex> guard(
            accounts_[i].m); // name: Bank::accounts_[...].m
        n++;
    }
    NOINLINE void smart()
    {
        std::lock_guard<std::mutex> guard(spare_->m); // name: Account::m
        n++;
    }
    NOINLINE void post()
    {
        inbox_.push(1); // name: Bank::inbox_.mutex_
        n++;
    }
};

static NOINLINE void reference(Account &a)
{
    std::lock_guard<std::mutex> guard(a.m); // name: Account::m
    a.n++;
}

static NOINLINE void locked(std::mutex &m)
{
    std::lock_guard<std::mutex> guard(m);
    m.native_handle();
}

static NOINLINE void by_wrapper(Account *a)
{
    locked(a->m); // name: Account::m
    a->n++;
}

static NOINLINE void local()
{
    std::mutex here;
    first([&] {
        here.lock();
        here.unlock();
    }); // may: here
    ring(here);
}

// --- no name of a member ---

static NOINLINE std::mutex &chosen(std::mutex &)
{
    return *new std::mutex;
}

static NOINLINE void returned(Account &a)
{
    std::mutex *other = nullptr;
    first([&] {
        (other = &chosen(a.m))->lock(); // name: mutex@
        other->unlock();
    });
    ring(*other);
}

int main()
{
    auto *s = new net::Session;
    first([=] { s->guard(); });
    ring(s->mutex_);
    first([=] { s->unique(); });
    ring(s->again_);
    first([=] { s->scoped(); });
    ring(s->files_);
    s = new net::Session;
    first([=] { s->plain(); });
    ring(s->mutex_);
    first([=] { s->inherited(); });
    ring(s->base_);
    s = new net::Session;
    s->captured();
    ring(s->mutex_);
    auto *c = new Cache<int>;
    first([=] { c->put(3); });
    ring(c->mutex_);
    auto *b = new Bank;
    first([=] { b->element(2); });
    ring(b->accounts_[2].m);
    first([=] { b->smart(); });
    ring(b->spare_->m);
    first([=] { b->post(); });
    ring(b->inbox_.mutex_);
    auto *a = new Account;
    first([=] { reference(*a); });
    ring(a->m);
    a = new Account;
    first([=] { by_wrapper(a); });
    ring(a->m);
    local();
    returned(*a);
}
