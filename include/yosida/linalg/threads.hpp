#pragma once

namespace yosida {

/// How many threads passes over large designs and factorisations may use: all cores unless set.
/// Results do not depend on it for passes over designs; factorisations agree to rounding.
void set_threads(int count);
int threads();

}  // namespace yosida
